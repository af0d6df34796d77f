/**
 * Waits until PostgreSQL accepts writes. A server that starts on a backup replays its log first and answers queries during
 * the replay; a standby does so permanently.
 *   W1. The wait has no time limit while the log is replayed, and reports progress every five seconds. It fails if nothing
 *       was replayed for a minute, if replay is paused, or if the server follows another one.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { connect, type Sql } from '../connection/connection.ts'
import { codeOf, unavailable } from '../connection/failure.ts'

/** PostgreSQL is read-only and will not change that by itself. The message says why and what to do. */
export class ServerReadOnly extends Error {
  override readonly name = 'ServerReadOnly'
}

const POLL_MS = 250
const PROGRESS_EVERY_MS = 5_000
const STALLED_MS = 60_000
/** SQLSTATE cannot_connect_now: the server starts, or has not replayed enough of its log to answer queries. */
const STARTING = '57P03'

/** Progress of a server's recovery. */
interface State {
  readonly recovering: boolean
  readonly readOnly: boolean
  readonly follows: boolean
  readonly paused: boolean
  /** The replayed position of the log, and the time of the last replayed transaction. */
  readonly replayed: string | null
  readonly upTo: Date | null
}

/** Throws ServerReadOnly, or `LedgerStoreUnavailable` if PostgreSQL is unavailable. */
export async function untilWritable(url: string, say: (text: string) => void): Promise<void> {
  let last: string | undefined
  let movedMs = performance.now()
  let saidMs = Number.NEGATIVE_INFINITY
  for (;;) {
    const state = await stateOf(url)
    if (state !== 'starting' && !state.recovering) return refuseReadOnly(state)
    if (state !== 'starting') refusePermanent(state)
    const place = state === 'starting' ? 'starting' : `${state.replayed ?? ''} ${state.upTo?.getTime() ?? ''}`
    const nowMs = performance.now()
    if (place !== last) movedMs = nowMs
    last = place
    if (nowMs - movedMs >= STALLED_MS) throw stalled(state)
    if (nowMs - saidMs >= PROGRESS_EVERY_MS) {
      saidMs = nowMs
      say(progressOf(state))
    }
    await pause(POLL_MS)
  }
}

/** For callers with their own wait. Rejects with `LedgerStoreUnavailable` if PostgreSQL is unavailable. */
export async function isInRecovery(url: string): Promise<boolean> {
  const state = await stateOf(url)
  return state === 'starting' || state.recovering
}

async function stateOf(url: string): Promise<State | 'starting'> {
  try {
    const connection = await connect({ url, applicationName: 'ledger:recovery' })
    try {
      return await readState(connection.sql)
    } finally {
      await connection.end()
    }
  } catch (cause) {
    if (codeOf(cause) === STARTING) return 'starting'
    throw unavailable(cause)
  }
}

async function readState(sql: Sql): Promise<State> {
  const [row] = await sql<State[]>`
    SELECT recovering, current_setting('transaction_read_only') = 'on' AS "readOnly",
           EXISTS (SELECT FROM pg_stat_wal_receiver) AS follows,
           CASE WHEN recovering THEN pg_get_wal_replay_pause_state() = 'paused' ELSE false END AS paused,
           pg_last_wal_replay_lsn()::text AS replayed, pg_last_xact_replay_timestamp() AS "upTo"
      FROM pg_is_in_recovery() recovering`
  if (row === undefined) throw new Error('the query for the state of recovery returned no row')
  return row
}

function refuseReadOnly({ readOnly }: State): void {
  if (!readOnly) return
  throw new ServerReadOnly('PostgreSQL is read-only: default_transaction_read_only is on for this database or role')
}

function refusePermanent({ follows, paused }: State): void {
  if (follows) {
    throw new ServerReadOnly(
      'PostgreSQL is a read-only standby that follows another server: set LEDGER_DATABASE_URL to the primary, or promote this server',
    )
  }
  if (paused) {
    throw new ServerReadOnly(
      'the recovery of PostgreSQL is paused, at its target or by hand: check the data, then end the recovery (SELECT pg_wal_replay_resume(), or recovery_target_action = promote)',
    )
  }
}

function stalled(state: State | 'starting'): ServerReadOnly {
  const seconds = STALLED_MS / 1_000
  return new ServerReadOnly(
    state === 'starting'
      ? `PostgreSQL has been starting for ${seconds} s without answering a query: check its log`
      : `PostgreSQL is in recovery and has replayed nothing for ${seconds} s (it is at ${state.replayed ?? 'the start'}): it is a standby, or it waits for a log file that restore_command does not provide`,
  )
}

function progressOf(state: State | 'starting'): string {
  if (state === 'starting') return 'waiting: PostgreSQL is starting'
  const upTo = state.upTo === null ? '' : `, transactions up to ${state.upTo.toISOString()}`
  return `waiting: PostgreSQL is in recovery and has replayed its log up to ${state.replayed ?? 'the start'}${upTo}`
}
