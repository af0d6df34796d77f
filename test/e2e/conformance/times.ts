/** Times that the ledger says: of this run, on the one machine that all of it runs on. */
import { expect } from 'vitest'
import { TIMESTAMP } from './forms.ts'

/** Before the ledger was started. */
const STARTED_MS = Date.now()

/** A timestamp of the interface, between the start of the run and now. */
export function expectTimeOfRun(value: unknown): void {
  expect(value).toMatch(TIMESTAMP)
  const timeMs = Date.parse(String(value))
  expect([value, timeMs >= STARTED_MS, timeMs <= Date.now()]).toEqual([value, true, true])
}
