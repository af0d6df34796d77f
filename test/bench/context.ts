/** The context of every measurement. */
import type { Cluster } from '../support/processes/cluster-process.ts'
import type { LedgerClient } from '../support/client/client.ts'
import type { LoadGenerator } from './load/load-generator.ts'
import type { Loop, RunResult } from './load/load-messages.ts'
import type { BenchOptions } from './options.ts'

export interface Bench {
  readonly options: BenchOptions
  readonly cluster: Cluster
  readonly client: LedgerClient
  readonly load: LoadGenerator
}

export const REGISTERING_CONNECTIONS = 64
export const WARM_UP_S = 5
/** Requests a second that are prepared for warming up: more than two cores can process. */
export const WARM_UP_RATE = 8_000
/** How much faster than the warm-up the measured run may be before it runs out of requests. */
export const HEADROOM = 2.5
/**
 * Enough for a stall of two seconds, within bounds. The ledger closes connections that are idle for ten seconds; used
 * in turn, none is.
 */
const OPEN_CONNECTIONS_A_RATE = 2
const LEAST_OPEN_CONNECTIONS = 8
const MOST_OPEN_CONNECTIONS = 512

/** Arrivals at a constant rate. */
export function openLoopAt(perSecond: number): Loop {
  const wanted = Math.ceil(perSecond * OPEN_CONNECTIONS_A_RATE)
  const connections = Math.min(MOST_OPEN_CONNECTIONS, Math.max(LEAST_OPEN_CONNECTIONS, wanted))
  return { kind: 'open', connections, perSecond }
}

export function demandAll(result: RunResult, status: number): void {
  const others = Object.keys(result.statuses).filter((found) => found !== String(status))
  if (others.length > 0) throw new Error(`not all were answered with ${status}:\n${result.surprises.join('\n')}`)
}

/** Facts about a run that a reader needs before trusting its numbers. */
export function sayOddities(name: string, run: RunResult): void {
  for (const surprise of run.surprises) say(`${name}: unexpected: ${surprise}`)
  if (run.ranDry) say(`${name}: all that was signed beforehand was sent before the time was over`)
}

export function say(text: string): void {
  process.stderr.write(`${text}\n`)
}
