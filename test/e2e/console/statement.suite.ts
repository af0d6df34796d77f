/** A statement that is longer than the console loads says so, and its CSV file is complete. */
import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { generateKey, LedgerClient } from '../../../api/client/index.ts'
import type { GetScene } from './console-scene.ts'
import { goTo, signIn, visitConsole } from './console-visit.ts'

const STATEMENTS = '**/statements?*'
/** The console loads 20 pages. */
const LOADED = 20
const CREDITS = 22

export function describeStatement(getScene: GetScene): void {
  describe('a long statement', () => {
    test('shows where it ends, has all movements as CSV, and verifies as a whole from a time on', async () => {
      const { browser, ledger } = getScene()
      const client = new LedgerClient({ url: ledger.address, credentials: ledger.credentials('admin') })
      const [accountId, key] = ['many-movements', await generateKey()]
      await client.registerAccount(accountId, key)
      for (let count = 0; count < CREDITS; count += 1) {
        await client.submitAndWait({ type: 'credit', account_id: accountId, amount: '1' }, key)
      }
      const { page, faults, close } = await visitConsole(browser, ledger.address)
      await signIn(page, ledger.dataDir, 'admin')
      // Pages of one movement.
      await page.route(STATEMENTS, (route) =>
        route.continue({ url: route.request().url().replace('page_size=1000', 'page_size=1') }),
      )
      await goTo(page, `#/accounts/${accountId}/statement`)
      const section = page.getByRole('region', { name: 'Statement' })
      await section.getByText(`the first ${LOADED} movements`).waitFor()
      expect(await section.textContent()).toContain(`From 0 BASE to ${LOADED} BASE at `)
      const saved = page.waitForEvent('download')
      await section.getByRole('button', { name: 'Download as CSV' }).click()
      const csv = readFileSync(await (await saved).path(), 'utf8')
        .trimEnd()
        .split('\r\n')
      expect([csv[0], csv.length]).toEqual(['sequence,txn_id,type,amount,balance_after,timestamp', CREDITS + 1])
      await page.unroute(STATEMENTS)
      await section.getByLabel('From (UTC)').fill('2020-02-03T04:05')
      await section.getByRole('button', { name: 'Show' }).click()
      await section.getByText(`to ${CREDITS} BASE, in ${CREDITS} movements.`).waitFor()
      await section.getByRole('button', { name: 'Verify the statement' }).click()
      await section.getByText('Verified in this browser').waitFor()
      expect(faults).toEqual([])
      await close()
    })
  })
}
