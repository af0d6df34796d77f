/** Reads what the ledger serves of its log as text of C2SP. */
import type { Http } from './http.ts'
import { isLedgerError, LedgerError } from './ledger-error.ts'
import type { CallOptions } from './operations-call.ts'
import { DEFAULT_WAIT_MS, type WaitOptions } from './waiting.ts'

/** Open: the log is public. */
export function openLogText(http: Http, path: string, { signal }: CallOptions): Promise<string> {
  return http.text({ method: 'GET', path, headers: { accept: 'text/plain' }, open: true, signal })
}

/** Rejects with ERR_WAIT_TIMEOUT while the log does not have the entry. */
export async function logProofText(
  http: Http,
  path: string,
  { timeoutMs = DEFAULT_WAIT_MS, signal }: WaitOptions,
): Promise<string> {
  const untilMs = http.clock.nowMs() + timeoutMs
  for (;;) {
    try {
      return await http.text({ method: 'GET', path, headers: { accept: 'text/plain' }, signal })
    } catch (error) {
      // The ledger has the entry, but the published log has not.
      const isPending = isLedgerError(error) && error.status === NOT_FOUND && error.retryAfterMs !== undefined
      if (!isPending) throw error
      if (http.clock.nowMs() >= untilMs) {
        const details = { codes: ['ERR_WAIT_TIMEOUT'], outcome: undefined, cause: error } as const
        throw new LedgerError(`The log does not have the entry within ${timeoutMs} ms.`, details)
      }
      await http.clock.sleep(error.retryAfterMs ?? 0, signal)
    }
  }
}

const NOT_FOUND = 404
