/** Waits at the ledger until a transaction or a settlement group is final. */
import type { Clock } from './clock.ts'
import type { HttpReply } from './http.ts'
import { isLedgerError, LedgerError, type LedgerErrorDetails } from './ledger-error.ts'
import type { CallOptions } from './operations-call.ts'

export interface WaitOptions extends CallOptions {
  /** Longest time until the outcome is final, in milliseconds: 60,000 by default. */
  readonly timeoutMs?: number
}

export interface Wait<State, Final extends State> {
  /** For the message of a timeout. */
  readonly what: string
  /** The members of each failure that name the transaction or group. */
  readonly subject: Pick<LedgerErrorDetails, 'txnId' | 'groupId'>
  readonly isFinal: (state: State) => state is Final
  readonly read: (wait: CallOptions & { readonly waitS: number }) => Promise<HttpReply<State>>
}

export const DEFAULT_WAIT_MS = 60_000
const LONGEST_WAIT_S = 30
const POLL_MS = 500

/** Rejects with ERR_WAIT_TIMEOUT while the state is not final. The outcome of every failure is `unknown`. */
export async function waitFor<State, Final extends State>(
  { what, subject, isFinal, read }: Wait<State, Final>,
  { timeoutMs = DEFAULT_WAIT_MS, signal }: WaitOptions,
  clock: Clock,
): Promise<Final> {
  const untilMs = clock.nowMs() + timeoutMs
  for (;;) {
    const { body, headers } = await read({ waitS: waitSeconds(untilMs - clock.nowMs()), signal }).catch(
      (error: unknown) => {
        throw isLedgerError(error) ? error.with({ ...subject, outcome: 'unknown' }) : error
      },
    )
    if (isFinal(body)) return body
    if (clock.nowMs() >= untilMs) {
      const details = { codes: ['ERR_WAIT_TIMEOUT'], outcome: 'unknown', ...subject } as const
      throw new LedgerError(`Not final within ${timeoutMs} ms: ${what}.`, details)
    }
    // The ledger lets a limited number of requests wait.
    if (!headers.has('preference-applied')) await clock.sleep(POLL_MS * (0.5 + clock.random() / 2), signal)
  }
}

/** Seconds for which a request waits at the ledger. */
export function waitSeconds(timeMs: number): number {
  return Math.min(Math.max(Math.ceil(timeMs / 1_000), 0), LONGEST_WAIT_S)
}
