/** A check ends with its page, and its result with the data that it checked. */
import type { Page, Route } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { generateKey, LedgerClient } from '../../../api/client/index.ts'
import { makeConsoleData } from './console-data.ts'
import type { GetScene } from './console-scene.ts'
import { goTo, signIn, visitConsole } from './console-visit.ts'

const REQUESTS = '**/v1/**'
/** More than the first page of the chain has. */
const CREDITS = 30

/** Starts a check whose requests get no response, leaves the page, and expects that each request ends. */
async function expectEndOf(page: Page, name: string): Promise<void> {
  const button = page.getByRole('button', { name })
  await button.waitFor()
  const held: Route[] = []
  const ended = new Set<unknown>()
  page.on('requestfailed', (request) => ended.add(request))
  await page.route(REQUESTS, (route) => void held.push(route))
  await button.click()
  await expect.poll(() => held.length).toBeGreaterThan(0)
  await goTo(page, '#/nowhere')
  await page.getByRole('heading', { level: 1, name: 'No such page' }).waitFor()
  // The browser reports ended requests before the response to a later one.
  await page.evaluate("fetch('/healthz').then((response) => response.text())")
  const requests = held.map((route) => route.request())
  const goingOn = requests.flatMap((request) => (ended.has(request) ? [] : `${name}: ${request.url()}`))
  expect(goingOn).toEqual([])
  await page.unroute(REQUESTS)
}

export function describeChecks(getScene: GetScene): void {
  describe('a check', () => {
    test('sends no request after its page is left', async () => {
      const { browser, ledger } = getScene()
      const data = await makeConsoleData(ledger, 'left')
      const { page, close } = await visitConsole(browser, ledger.address)
      await signIn(page, ledger.dataDir, 'admin')
      const account = `#/accounts/${encodeURIComponent(data.accountId)}`
      const checks = [
        [account, 'Verify the balances'],
        [account, 'Verify that the account is counted'],
        [`${account}/chain`, 'Verify the chain'],
        [`#/transactions/${data.txnId}`, 'Verify the receipt'],
        [`#/groups/${data.groupId}`, 'Verify the legs'],
        [`#/nfts/${data.classId}/${data.instanceId}`, 'Verify the owners'],
        ['#/tokens', 'Count the liabilities'],
      ] as const
      for (const [place, button] of checks) {
        await goTo(page, place)
        await expectEndOf(page, button)
      }
      await close()
    })

    test('of the liabilities does not start again while the ledger counts them', async () => {
      const { browser, ledger } = getScene()
      const { page, faults, close } = await visitConsole(browser, ledger.address)
      await signIn(page, ledger.dataDir, 'admin')
      await goTo(page, '#/tokens')
      const button = page.getByRole('button', { name: 'Count the liabilities' })
      const held: Route[] = []
      await page.route('**/v1/assertions/proof-of-liabilities', (route) => void held.push(route))
      await button.dblclick()
      await expect.poll(() => held.length).toBe(1)
      expect(await button.isDisabled()).toBe(true)
      await held[0]?.continue()
      await page.getByRole('button', { name: 'Verify the liabilities' }).waitFor()
      expect([await button.isDisabled(), held.length, faults]).toEqual([false, 1, []])
      await close()
    })

    test('has no result for rows that were loaded after it', async () => {
      const { browser, ledger } = getScene()
      const client = new LedgerClient({ url: ledger.address, credentials: ledger.credentials('admin') })
      const [accountId, key] = ['many-entries', await generateKey()]
      await client.registerAccount(accountId, key)
      for (let count = 0; count < CREDITS; count += 1) {
        await client.submitAndWait({ type: 'credit', account_id: accountId, amount: '1' }, key)
      }
      const { page, faults, close } = await visitConsole(browser, ledger.address)
      await signIn(page, ledger.dataDir, 'admin')
      await goTo(page, `#/accounts/${accountId}/chain`)
      const chain = page.getByRole('region', { name: 'Audit chain' })
      const verify = chain.getByRole('button', { name: 'Verify the chain' })
      const result = chain.getByText('Verified in this browser')
      await verify.click()
      await result.waitFor()
      await chain.getByRole('button', { name: 'Show more' }).click()
      await expect.poll(() => chain.getByRole('row').count()).toBe(CREDITS + 2)
      expect(await result.count()).toBe(0)
      await verify.click()
      await result.waitFor()
      expect(faults).toEqual([])
      await close()
    })
  })
}
