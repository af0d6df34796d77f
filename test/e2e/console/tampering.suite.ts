/** An edge, or a proxy before it, that changes an answer is found out, and the changed place is named. */
import { describe, expect, test } from 'vitest'
import type { GetScene } from './console-scene.ts'
import { goTo, signIn, visitConsole } from './console-visit.ts'

export function describeTampering(getScene: GetScene): void {
  describe('a changed answer', () => {
    test('in the audit chain or in its proof of the log is shown as tampered', async () => {
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
      proxy.tamper((path, body) =>
        path.endsWith('/proof') ? body.replace(/^index .*$/m, 'index 4000000000') : undefined,
      )
      await verify.click()
      await chain.getByText('The proof of the log: the log does not have the entry in place 4000000000').waitFor()
      expect(await chain.getByText('Tampered: do not rely on it').count()).toBe(1)
      proxy.tamper(undefined)
      await verify.click()
      await chain.getByText('Verified in this browser').waitFor()
      await chain.getByText(/^The log ledger\/.* has it in place [0-9]+ of [0-9]+, counted from 0\.$/).waitFor()
      await chain.getByText('That the ledger shows everyone this same log: no witness signed it.').waitFor()
      expect(faults).toEqual([])
      await close()
      client.close()
    })
  })
}
