/** An edge, or a proxy before it, that changes an answer is found out, and the changed place is named. */
import { describe, expect, test } from 'vitest'
import type { GetScene } from './console-scene.ts'
import { goTo, signIn, visitConsole } from './console-visit.ts'

export function describeTampering(getScene: GetScene): void {
  describe('a changed answer', () => {
    test('in the audit chain is shown as tampered, with its entry', async () => {
      const { browser, ledger, proxy } = getScene()
      const client = await ledger.client('transactor')
      const { accountId } = await client.register('chain-holder')
      const { page, faults, close } = await visitConsole(browser, proxy.origin)
      await signIn(page, ledger.dataDir, 'admin')
      await goTo(page, `#/accounts/${accountId}/chain`)
      const chain = page.getByRole('region', { name: 'Audit chain' })
      const verify = chain.getByRole('button', { name: 'Verify the chain' })
      await verify.click()
      await chain.getByText('Verified in this browser').waitFor()
      proxy.tamper((path, body) =>
        path.includes('/audit-chain') ? body.replace('registration', 'resignation') : undefined,
      )
      await verify.click()
      await chain.getByText('Tampered: do not rely on it').waitFor()
      await chain.getByText('Entry 0 of the chain: its audit_hash is not the hash').waitFor()
      proxy.tamper(undefined)
      await verify.click()
      await chain.getByText('Verified in this browser').waitFor()
      expect(faults).toEqual([])
      await close()
      client.close()
    })
  })
}
