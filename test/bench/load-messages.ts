/** What the bench and its load generator say to each other. */
import type { Latency } from './statistics.ts'

export type Scenario = 'random' | 'hot'

export type LoadOrder =
  | { readonly kind: 'setup'; readonly origin: string; readonly token: string; readonly accounts: number }
  | { readonly kind: 'register'; readonly connections: number }
  /** Signs submissions until so many are ready, to be sent by the runs that follow. */
  | { readonly kind: 'prepare'; readonly scenario: Scenario; readonly count: number }
  /** Sends what was prepared, for at most so long. */
  | { readonly kind: 'run'; readonly connections: number; readonly seconds: number }

export interface RunResult {
  /** From the first request to the last reply. */
  readonly durationMs: number
  /** How many replies had which status. */
  readonly statuses: Readonly<Record<string, number>>
  /** Bodies of some replies with a status that was not expected. */
  readonly surprises: readonly string[]
  /** Of the replies with the expected status. */
  readonly latency: Latency
  /** From the request of a submission to the reply that showed it final, of a sample. */
  readonly toFinal: Latency
  /** Whether there was nothing left to send before the time was over. */
  readonly ranDry: boolean
}

export type LoadReply =
  | { readonly kind: 'done' }
  | { readonly kind: 'ran'; readonly result: RunResult }
  | { readonly kind: 'failed'; readonly message: string }
