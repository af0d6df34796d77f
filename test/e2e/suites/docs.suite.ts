/** The documentation in a real browser: it tries requests out on the ledger that serves it, and loads nothing from elsewhere. */
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { launchChromium } from '../../support/browser/chromium.ts'
import { openWatchedPage, type WatchedPage } from '../../support/browser/watched-page.ts'
import { membersOf } from '../../support/client/client.ts'
import type { GetRunning } from '../running.ts'

/** A browser that gets no processor time is slow. */
const PATIENCE_MS = 180_000
const HOSTILE = '<img src=x onerror="window.hacked = true"><script>window.hacked = true</script>'

/** Opens an operation of the reference, and its form to send a request. */
async function openForm(
  page: Page,
  { tag, summary, request }: Readonly<Record<'tag' | 'summary' | 'request', string>>,
) {
  const sidebar = page.getByRole('navigation', { name: 'Sidebar' })
  await sidebar.getByText(tag, { exact: true }).click()
  await sidebar.getByText(summary).click()
  await page.getByRole('button', { name: `Test Request (${request})`, exact: true }).click()
}

async function sendForm(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Send' }).last().click()
}

/** Replaces the example in a parameter. Its editor may still be about to load it, and ignores keys until then. */
async function enter(page: Page, parameter: string, text: string): Promise<void> {
  const input = page.locator(`tr#${parameter}`).getByRole('textbox').last()
  const example = await input.innerText()
  await expect
    .poll(
      async () => {
        await input.click()
        await page.keyboard.press('ControlOrMeta+A')
        await page.keyboard.press('Delete')
        return input.innerText()
      },
      { timeout: PATIENCE_MS },
    )
    .not.toContain(example)
  await page.keyboard.insertText(text)
  // The page uses an input a moment after it was typed: then its sample has it.
  await page.getByRole('button', { name: 'Code Snippet' }).last().click()
  await page.getByText(`/${text}`).first().waitFor()
}

export function docsSuite(running: GetRunning): void {
  describe('the documentation in Chromium', () => {
    let browser: Browser

    beforeAll(async () => {
      browser = await launchChromium()
    })

    afterAll(async () => {
      await browser.close()
    })

    async function open(path: string): Promise<WatchedPage> {
      const { origin } = running().cluster
      const watched = await openWatchedPage(browser, origin)
      onTestFinished(watched.close)
      watched.page.setDefaultTimeout(PATIENCE_MS)
      await watched.page.goto(`${origin}${path}`)
      return watched
    }

    test('shows every subject, and sends a request without a token', async () => {
      const { page, elsewhere, faults } = await open('/docs')
      const { tags } = (await running().client.read('/openapi.json')) as { readonly tags: readonly { name: string }[] }
      for (const { name } of tags) await page.getByText(name, { exact: true }).first().waitFor()
      await openForm(page, { tag: 'Operation', summary: 'Whether the process answers', request: 'get /healthz' })
      const sent = page.waitForResponse((response) => response.url().endsWith('/healthz'))
      await sendForm(page)
      expect((await sent).status()).toBe(200)
      await page.getByText('200 OK').waitFor()
      expect([elsewhere, faults]).toEqual([[], []])
    })

    test('sends a token, keeps it in memory only, and shows hostile metadata as text', async () => {
      const { client } = running()
      const holder = await client.register('hostile@docs')
      const order = { type: 'credit', amount: '1', idempotency_key: 'hostile', metadata: { note: HOSTILE } }
      const { txn_id: txnId } = membersOf(await client.submit(holder, order))
      const { page, elsewhere, faults } = await open('/docs')
      await page.getByLabel('Bearer Token').first().fill(client.token)
      const request = 'get /v1/transactions/{txnId}'
      await openForm(page, { tag: 'Transactions', summary: 'Get a transaction', request })
      await enter(page, 'txnId', String(txnId))
      const sent = page.waitForResponse((response) => response.url().includes('/v1/transactions/'))
      await sendForm(page)
      const response = await sent
      expect([response.status(), new URL(response.url()).pathname]).toEqual([200, `/v1/transactions/${String(txnId)}`])
      await page.getByText('<script>window.hacked').waitFor()
      expect(await page.evaluate('window.hacked')).toBeUndefined()
      expect(await page.evaluate('JSON.stringify([{ ...localStorage }, { ...sessionStorage }])')).not.toContain(
        client.token,
      )
      expect(await page.context().cookies()).toEqual([])
      expect([elsewhere, faults]).toEqual([[], []])
    })

    test.for(['/docs/plain', '/docs/guides', '/docs/guides/integration', '/errors', '/errors/not-found'] as const)(
      '%s loads nothing from elsewhere, and fits a phone',
      async (path) => {
        const { page, elsewhere, faults } = await open(path)
        await page.setViewportSize({ width: 390, height: 844 })
        const tooWide = await page.evaluate(
          'document.documentElement.scrollWidth - document.documentElement.clientWidth',
        )
        expect([path, tooWide, elsewhere, faults]).toEqual([path, 0, [], []])
      },
    )
  })
}
