/**
 * Reads the shards with several readers, because decrypting rows takes almost all of a run's time.
 *   P1. All readers use the snapshot of the run's open transaction.
 *   P2. The first problem of any reader ends all readers and is the outcome of the run.
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
  /** Name from `pg_export_snapshot`. Its transaction stays open until the reader has an outcome. */
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
  /** `table`: has a row that cannot be decrypted or fails a check. */
  | { readonly kind: 'unreadable'; readonly table: string }
  /** `code`: of the driver or the system, or the name of an error. */
  | { readonly kind: 'failed'; readonly code: string }

export interface RunningReader {
  /** Never rejects. */
  readonly outcome: Promise<ReaderOutcome>
  readonly end: () => void
}

export type StartReader = (task: ReaderTask) => RunningReader

class ReaderFailed extends Error {
  override readonly name = 'ReaderFailed'
  readonly code: string

  constructor(code: string) {
    super(`a reader failed: ${code}`)
    this.code = code
  }
}

/** Runs a reader in this thread, on its own connection. */
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
      if (ending?.aborted === true) throw new Error('the reader was ended')
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
  if (!SNAPSHOT_NAME.test(snapshot)) throw new UnreadableLiability('The name of the snapshot is invalid.')
  let part: PartRead | undefined
  await sql.begin('ISOLATION LEVEL REPEATABLE READ READ ONLY', async (transaction) => {
    await transaction.unsafe(`SET TRANSACTION SNAPSHOT '${snapshot}'`)
    const vault = openSnapshotVault(readingKeys, ledger)
    await fetchShardKeys(transaction, vault, ledger.shardCount)
    const { book, ...read } = await readRange(transaction, vault, task)
    part = { ...read, part: book.part() }
  })
  if (part === undefined) throw new UnreadableLiability('A reader has no result.')
  return part
}

/** Leaves out the row: its reference identifies the account. */
export function tableIn({ message }: UnreadableRow): string {
  return /^[a-z_.]+/.exec(message)?.[0] ?? ''
}

/** Ranges of similar size that cover all shards. `readers`: at most the number of shards. */
export function rangesOf(shardCount: number, readers: number): readonly ShardRange[] {
  const border = (reader: number): number => Math.floor((reader * shardCount) / readers)
  return Array.from({ length: readers }, (_, reader) => ({ first: border(reader), end: border(reader + 1) }))
}

/**
 * `own` reads in this thread; its `check` throws once another reader has a problem. Rejects with UnreadableRow,
 * ReaderFailed, or like `own`. Ends the readers.
 */
export async function readTogether(
  running: readonly RunningReader[],
  own: (check: () => void) => Promise<RangeRead>,
): Promise<{ readonly own: RangeRead; readonly others: readonly PartRead[] }> {
  const reads: PartRead[] = []
  let problem: Error | undefined
  try {
    const others = running.map(async ({ outcome }) => {
      const settled = await outcome
      if (settled.kind === 'read') reads.push(settled.read)
      else problem ??= problemOf(settled)
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
    : new UnreadableRow(placeOf(outcome.table), 'a reader could not decrypt a row')
}
