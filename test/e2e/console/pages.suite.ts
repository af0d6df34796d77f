/** Every page of the console, in both themes, on a wide and on a narrow screen. */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'
import { beforeAll, describe, expect, test } from 'vitest'
import { type ConsoleData, HOSTILE, makeConsoleData } from './console-data.ts'
import type { GetScene } from './console-scene.ts'
import { goTo, signIn, visitConsole } from './console-visit.ts'

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
const [WIDE, NARROW] = [
  { width: 1280, height: 900 },
  { width: 390, height: 844 },
]
const VIEWS = [
  { colorScheme: 'light', viewport: WIDE },
  { colorScheme: 'dark', viewport: WIDE },
  { colorScheme: 'light', viewport: NARROW },
  { colorScheme: 'dark', viewport: NARROW },
] as const
/** The deadline of the page is that of its loads. */
const LOADED = "document.querySelector('h1') !== null && document.querySelectorAll('.loading').length === 0"

/** Places, each with the buttons that show more of it. */
function placesOf(data: ConsoleData): readonly (readonly [place: string, ...buttons: string[]])[] {
  const account = `#/accounts/${encodeURIComponent(data.accountId)}`
  return [
    ['#/', 'Verify the signature'],
    ['#/accounts'],
    [account, 'Verify the balances', 'Verify that the account is counted'],
    [`${account}/statement`, 'Verify the statement'],
    [`${account}/transactions`],
    [`${account}/holds`],
    [`${account}/nfts`],
    [`${account}/chain`, 'Verify the chain'],
    ['#/transactions', 'Follow live'],
    [`#/transactions/${data.txnId}`, 'Verify the receipt'],
    ['#/groups'],
    [`#/groups/${data.groupId}`, 'Verify the legs'],
    ['#/tokens', 'Count the liabilities', 'Verify the liabilities'],
    [`#/tokens/${data.tokenId}`],
    ['#/nfts'],
    [`#/nfts/${data.classId}`],
    [`#/nfts/${data.classId}/${data.instanceId}`, 'Verify the owners'],
    ['#/shards'],
    ['#/webhooks'],
    [`#/webhooks/${data.webhookId}`, 'Send a test message'],
    ['#/keys'],
    ['#/holder', 'Make a key and register'],
    ['#/nowhere'],
  ]
}

interface AxeViolation {
  readonly id: string
  readonly impact: string
  readonly nodes: readonly { readonly html: string; readonly failureSummary: string }[]
}

/** Serious and critical findings, in words. */
async function accessibilityFaults(page: Page): Promise<readonly string[]> {
  await page.evaluate(AXE)
  const found = await page.evaluate<readonly AxeViolation[]>('axe.run(document).then(({ violations }) => violations)')
  return found
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, nodes }) => nodes.map(({ html, failureSummary }) => `${id}: ${html}: ${failureSummary}`))
}

export function describePages(getScene: GetScene): void {
  describe('every page', () => {
    let data: ConsoleData

    beforeAll(async () => {
      data = await makeConsoleData(getScene().ledger)
    })

    test.for(VIEWS)('opens without an error, and is accessible: $colorScheme, $viewport.width wide', async (view) => {
      const { browser, ledger } = getScene()
      const { page, faults, close } = await visitConsole(browser, ledger.address, view)
      expect(await accessibilityFaults(page)).toEqual([])
      await signIn(page, ledger.dataDir, 'admin')
      for (const [place, ...buttons] of placesOf(data)) {
        await goTo(page, place)
        await expect.poll(() => page.evaluate(LOADED)).toBe(true)
        for (const name of buttons) {
          await page.getByRole('button', { name }).click()
          await expect.poll(() => page.locator('button:disabled').count()).toBe(0)
        }
        // A click on a button in a link also follows the link.
        expect(await page.locator('a button').count()).toBe(0)
        const isWide = await page.evaluate('document.documentElement.scrollWidth > innerWidth')
        expect({ place, isWide, faults, inaccessible: await accessibilityFaults(page) }).toEqual({
          place,
          isWide: false,
          faults: [],
          inaccessible: [],
        })
        expect(await page.locator('[data-outcome]:not([data-outcome="verified"])').count()).toBe(0)
      }
      await close()
    })

    test('shows hostile metadata as text', async () => {
      const { browser, ledger } = getScene()
      const { page, faults, close } = await visitConsole(browser, ledger.address)
      await signIn(page, ledger.dataDir, 'admin')
      for (const place of [`#/transactions/${data.hostileTxnId}`, `#/nfts/${data.classId}/${data.instanceId}`]) {
        await goTo(page, place)
        await page.getByText(HOSTILE.markup).first().waitFor()
        await page.getByText('U+202E').first().waitFor()
        expect(await page.evaluate("document.querySelectorAll('main script, main img').length")).toBe(0)
        expect(await page.evaluate('globalThis.broken')).toBeUndefined()
      }
      expect(faults).toEqual([])
      await close()
    })

    test('moves the focus to the heading of the next page, and tells where it is', async () => {
      const { browser, ledger } = getScene()
      const { page, close } = await visitConsole(browser, ledger.address)
      await signIn(page, ledger.dataDir, 'viewer')
      await page.getByRole('link', { name: 'Tokens' }).focus()
      await page.keyboard.press('Enter')
      await page.getByRole('heading', { level: 1, name: 'Tokens' }).waitFor()
      expect(await page.evaluate('document.activeElement.textContent')).toBe('Tokens')
      expect(await page.title()).toBe('Tokens - Ledger console')
      expect(await page.getByRole('link', { name: 'Tokens' }).getAttribute('aria-current')).toBe('page')
      await close()
    })
  })
}
