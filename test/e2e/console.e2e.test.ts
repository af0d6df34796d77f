/** The console in a real Chromium, at a ledger that was just started. */
import { afterAll, beforeAll, describe } from 'vitest'
import { launchChromium } from '../support/browser/chromium.ts'
import { startLedgerProxy } from '../support/browser/ledger-proxy.ts'
import { describeChecks } from './console/checks.suite.ts'
import type { ConsoleScene } from './console/console-scene.ts'
import { describeFiles } from './console/files.suite.ts'
import { describeFirstRun } from './console/first-run.suite.ts'
import { describePages } from './console/pages.suite.ts'
import { describeStatement } from './console/statement.suite.ts'
import { describeTampering } from './console/tampering.suite.ts'
import { buildOnce, freshDirectory, LedgerUp } from './start-harness.ts'

let scene: ConsoleScene | undefined

function getScene(): ConsoleScene {
  if (scene === undefined) throw new Error('the ledger does not run')
  return scene
}

beforeAll(async () => {
  await buildOnce()
  const [ledger, browser] = await Promise.all([LedgerUp.start(await freshDirectory(), { nodes: 2 }), launchChromium()])
  scene = { ledger, browser, proxy: await startLedgerProxy(ledger.address) }
})

afterAll(async () => {
  await scene?.browser.close()
  await scene?.proxy.close()
  await scene?.ledger.destroy()
})

describe('the console', () => {
  describeFiles(getScene)
  describeFirstRun(getScene)
  describePages(getScene)
  describeChecks(getScene)
  describeStatement(getScene)
  describeTampering(getScene)
})
