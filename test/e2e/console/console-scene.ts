/** The ledger, the browser and the proxy that all suites of the console share. */
import type { Browser } from 'playwright-core'
import type { LedgerProxy } from '../../support/browser/ledger-proxy.ts'
import type { LedgerUp } from '../start-harness.ts'

export interface ConsoleScene {
  readonly ledger: LedgerUp
  /** In front of the ledger's edge. */
  readonly proxy: LedgerProxy
  readonly browser: Browser
}

/** Only tests may call it: the ledger starts before the first. */
export type GetScene = () => ConsoleScene
