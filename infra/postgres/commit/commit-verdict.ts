/**
 * What PostgreSQL's answer to a commit proves (D3).
 *   Applied: a result without warnings. Failed: an ERROR, which the driver shows only once the server is ready for the
 *   next query, so that nothing of the statement was applied. Everything else is unknown: FATAL, a lost connection, an
 *   exception, or a dangerous warning (`isDangerous`): a commit that stopped waiting for its standby gives no other sign.
 */
import postgres from 'postgres'
import type { CommitVerdict } from '../../../runtime/ports/ledger-store.ts'
import type { ServerNotice } from '../connection/connection.ts'
import { codeOf } from '../connection/failure.ts'

/** Raised by `ledger_demand`. */
const DEMAND_BROKEN = 'LG001'
/** Classes of SQLSTATE (PostgreSQL documentation, appendix A) for which even an ERROR is no proof. */
const UNPROVEN = ['08', '57P', '40003']
/** Errors that a row can cause: data_exception, program_limit_exceeded, and exceptions of an operator's trigger (P0). */
const OF_DATA = ['22', '54', 'P0']
/** Constraints are assertions here. A damaged page or index is the fault of no command. */
const OF_INVARIANT = ['23', 'XX001', 'XX002', DEMAND_BROKEN]

/** No text of the server's is in the verdict: its details quote rows. */
export function verdictOfError(error: unknown): CommitVerdict {
  if (!(error instanceof postgres.PostgresError)) return { kind: 'unknown', detail: `no answer: ${codeOf(error)}` }
  const { code, severity } = error
  if (severity !== 'ERROR' || startsWithAny(code, UNPROVEN)) {
    return { kind: 'unknown', detail: `${severity} ${code}` }
  }
  const table = error.table_name === undefined ? '' : ` on ${error.table_name}`
  const detail = code === DEMAND_BROKEN ? error.message : `SQLSTATE ${code}${table}`
  if (startsWithAny(code, OF_INVARIANT)) return { kind: 'failed', cause: 'invariant', detail }
  if (startsWithAny(code, OF_DATA)) return { kind: 'failed', cause: 'data', detail }
  return { kind: 'failed', cause: 'transient', detail }
}

/** Classes of SQLSTATE: no such transaction, rolled back, ended by an operator, internal error. */
const DANGEROUS = ['25', '40', '57', 'XX']
/** A commit that stops waiting for a standby gives a plain warning, 01000: only its source file identifies it. */
const DANGEROUS_SOURCE = 'syncrep.c'

/** Whether a warning makes the outcome of the commit unknown. */
export function isDangerous({ code, file }: ServerNotice): boolean {
  return file === DANGEROUS_SOURCE || startsWithAny(code, DANGEROUS)
}

function startsWithAny(code: string, prefixes: readonly string[]): boolean {
  return prefixes.some((prefix) => code.startsWith(prefix))
}
