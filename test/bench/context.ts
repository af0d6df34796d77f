/** What every measurement works with. */
import type { Cluster } from '../support/cluster-process.ts'
import type { LedgerClient } from '../support/client.ts'
import type { LoadGenerator } from './load-generator.ts'
import type { RunResult } from './load-messages.ts'
import type { BenchOptions } from './options.ts'

export interface Bench {
  readonly options: BenchOptions
  readonly cluster: Cluster
  readonly client: LedgerClient
  readonly load: LoadGenerator
}

export const REGISTERING_CONNECTIONS = 64
export const WARM_UP_S = 5
/** Prepared for warming up, a second: more than two cores can do. */
export const WARM_UP_RATE = 8_000
/** How much faster than warming up the measured run may be before it runs dry. */
export const HEADROOM = 2.5

export function demandAll(result: RunResult, status: number): void {
  const others = Object.keys(result.statuses).filter((found) => found !== String(status))
  if (others.length > 0) throw new Error(`not all were answered with ${status}:\n${result.surprises.join('\n')}`)
}

/** What a reader must know of a run before trusting its numbers. */
export function sayOddities(name: string, run: RunResult): void {
  for (const surprise of run.surprises) say(`${name}: unexpected: ${surprise}`)
  if (run.ranDry) say(`${name}: all that was signed beforehand was sent before the time was over`)
}

export function say(text: string): void {
  process.stderr.write(`${text}\n`)
}
