import type { LedgerClient } from '../../client/index.ts'
import type { LogEvidence } from '../proofs/log-finding.ts'

/** The reader's policy for the log, in memory. */
export class LogTrust {
  private text = ''

  /** In the form of C2SP; empty: none. */
  get policy(): string {
    return this.text
  }

  keep(policy: string): void {
    this.text = policy
  }
}

/** The reader waits, and an entry is in the log within seconds. */
export const LOG_WAIT_MS = 10_000

/** The evidence for a proof that `ask` gives. */
export async function logEvidence(
  client: LedgerClient,
  ask: () => Promise<string>,
  signal: AbortSignal,
): Promise<LogEvidence> {
  const [proof, logKey] = await Promise.all([ask(), client.logVerifierKey({ signal })])
  return { proof, logKey }
}
