/**
 * Opening rows takes almost all of a run's time: several readers share it, each with some of the shards.
 *   P1. All see the same moment: theirs is the snapshot of the transaction that the run has open.
 *   P2. What one of them finds wrong is the outcome of all; and none goes on when the others have ended.
 */
import type postgres from 'postgres'
import type { KeyRing } from '../keys/wrapping-keys.ts'
import { codeOf } from '../postgres/connection/failure.ts'
import type { LedgerRecord } from '../postgres/migrations/migrate.ts'
import { placeOf } from '../vault/place.ts'
import { UnreadableRow } from '../vault/unreadable-row.ts'
import type { ShardRange } from './liability-accounts.ts'
import { type BookPart, UnreadableLiability } from './liability-book.ts'
import { connectRun, whileOpen } from './liability-connection.ts'
import { fetchShardKeys, type RangeRead, type RangeTask, readRange } from './liability-range.ts'
import { openSnapshotVault } from './liability-vault.ts'

export interface ReaderRange extends RangeTask {
  /** As `pg_export_snapshot` names it; its transaction is open until the reader has an outcome. */
  readonly snapshot: string
}

/** Can be sent to a thread. */
export interface ReaderTask extends ReaderRange {
  readonly url: string
  readonly readingKeys: KeyRing
  readonly ledger: LedgerRecord
}

export type PartRead = Omit<RangeRead, 'book'> & { readonly part: BookPart }

export type ReaderOutcome =
  | { readonly kind: 'read'; readonly read: PartRead }
  /** `table`: where a row does not open, or is not what was written with the others. */
  | { readonly kind: 'unreadable'; readonly table: string }
  /** `code`: of the driver or the system, or the name of an error. */
  | { readonly kind: 'failed'; readonly code: string }

export interface RunningReader {
  /** Never rejects. */
  readonly outcome: Promise<ReaderOutcome>
  /** It is of no use any more. */
  readonly end: () => void
}

export type StartReader = (task: ReaderTask) => RunningReader

/** A reader that failed, by the code of what it failed with. */
class ReaderFailed extends Error {
  override readonly name = 'ReaderFailed'
  readonly code: string

  constructor(code: string) {
    super(`a reader failed: ${code}`)
    this.code = code
  }
}

/** On a connection of its own, in this thread. */
export const startReaderHere: StartReader = (task) => {
  const ending = new AbortController()
  return { outcome: runReader(task, ending.signal), end: () => ending.abort() }
}

/** Never rejects. */
export async function runReader(task: ReaderTask, ending?: AbortSignal): Promise<ReaderOutcome> {
  try {
    const connection = await connectRun(task.url, 'ledger:liabilities-reader')
    try {
      ending?.addEventListener('abort', connection.destroy, { once: true })
      if (ending?.aborted === true) throw new Error('it is of no use any more')
      return { kind: 'read', read: await whileOpen(connection, readPart(connection.sql, task)) }
    } finally {
      connection.destroy()
    }
  } catch (error) {
    if (error instanceof UnreadableRow) return { kind: 'unreadable', table: tableIn(error) }
    return { kind: 'failed', code: codeOf(error) }
  }
}

const SNAPSHOT_NAME = /^[0-9A-F-]+$/

async function readPart(sql: postgres.Sql, task: ReaderTask): Promise<PartRead> {
  const { readingKeys, ledger, snapshot } = task
  if (!SNAPSHOT_NAME.test(snapshot)) throw new UnreadableLiability('The name of the snapshot is none.')
  let part: PartRead | undefined
  await sql.begin('ISOLATION LEVEL REPEATABLE READ READ ONLY', async (transaction) => {
    await transaction.unsafe(`SET TRANSACTION SNAPSHOT '${snapshot}'`)
    const vault = openSnapshotVault(readingKeys, ledger)
    await fetchShardKeys(transaction, vault, ledger.shardCount)
    const { book, ...read } = await readRange(transaction, vault, task)
    part = { ...read, part: book.part() }
  })
  if (part === undefined) throw new UnreadableLiability('A reader gave nothing.')
  return part
}

/** The table, without the row: a reference identifies the account. */
export function tableIn({ message }: UnreadableRow): string {
  return /^[a-z_.]+/.exec(message)?.[0] ?? ''
}

/** Ranges of about the same size that cover all shards. `readers`: at most as many as shards. */
export function rangesOf(shardCount: number, readers: number): readonly ShardRange[] {
  const border = (reader: number): number => Math.floor((reader * shardCount) / readers)
  return Array.from({ length: readers }, (_, reader) => ({ first: border(reader), end: border(reader + 1) }))
}

/**
 * `own`: reads in this thread; it throws what `check` throws, which looks whether others go on. Rejects with UnreadableRow,
 * ReaderFailed, or as `own` does. Ends the readers.
 */
export async function readTogether(
  running: readonly RunningReader[],
  own: (check: () => void) => Promise<RangeRead>,
): Promise<{ readonly own: RangeRead; readonly others: readonly PartRead[] }> {
  const reads: PartRead[] = []
  let problem: Error | undefined
  try {
    const others = running.map(async ({ outcome }) => {
      const given = await outcome
      if (given.kind === 'read') reads.push(given.read)
      else problem ??= problemOf(given)
    })
    const read = await own(() => {
      if (problem !== undefined) throw problem
    })
    await Promise.all(others)
    if (problem !== undefined) throw problem
    return { own: read, others: reads }
  } finally {
    for (const { end } of running) end()
  }
}

function problemOf(outcome: Exclude<ReaderOutcome, { readonly kind: 'read' }>): Error {
  return outcome.kind === 'failed'
    ? new ReaderFailed(outcome.code)
    : new UnreadableRow(placeOf(outcome.table), 'a reader could not open a row')
}
