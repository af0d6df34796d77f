/** Visits of the console in a real Chromium. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'

/** A browser that gets no processor time is slow. */
const PATIENCE_MS = 180_000

export interface ConsoleVisit {
  readonly page: Page
  /** Errors of the page, and messages of the browser's console: violations of its policy are among them. */
  readonly faults: readonly string[]
  readonly close: () => Promise<void>
}

/** Opens the sign-in page in a browser context of its own. */
export async function visitConsole(
  browser: Browser,
  origin: string,
  options: BrowserContextOptions = {},
): Promise<ConsoleVisit> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options })
  const page = await context.newPage()
  const faults: string[] = []
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') faults.push(message.text())
  })
  page.on('pageerror', (error) => faults.push(error.message))
  page.setDefaultTimeout(PATIENCE_MS)
  await page.goto(`${origin}/console`)
  return { page, faults, close: () => context.close() }
}

/** Signs in with the file that the first start has written, as a person pastes it. */
export async function signIn(page: Page, dataDir: string, role: 'admin' | 'transactor' | 'viewer'): Promise<void> {
  await page.getByLabel('Client secret').fill(readFileSync(join(dataDir, 'clients.json'), 'utf8'))
  await page.getByRole('button', { name: `Sign in as ${role}` }).click()
  await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
}

/** Goes to a page by its address. */
export async function goTo(page: Page, path: string): Promise<void> {
  await page.evaluate(`location.hash = ${JSON.stringify(path)}`)
}
