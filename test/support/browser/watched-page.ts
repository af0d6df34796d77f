/** A page in a browser context of its own, and what a page must not do. */
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'

export interface WatchedPage {
  readonly page: Page
  /** URLs of requests to other origins. */
  readonly elsewhere: readonly string[]
  /** Errors of scripts, and messages about violations of the page's policy. */
  readonly faults: readonly string[]
  readonly close: () => Promise<void>
}

/** `origin`: the only one that the page may send requests to. */
export async function openWatchedPage(
  browser: Browser,
  origin: string,
  options: BrowserContextOptions = {},
): Promise<WatchedPage> {
  const context = await browser.newContext(options)
  const elsewhere: string[] = []
  const faults: string[] = []
  context.on('request', (request) => {
    const url = request.url()
    if (!url.startsWith(`${origin}/`) && !url.startsWith('data:')) elsewhere.push(url)
  })
  context.on('console', (message) => {
    if (message.text().includes('Content Security Policy')) faults.push(message.text())
  })
  context.on('weberror', (error) => faults.push(String(error.error())))
  const page = await context.newPage()
  return { page, elsewhere, faults, close: () => context.close() }
}
