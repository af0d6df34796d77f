/**
 * Reads the shards with several readers, because decrypting rows takes almost all of a run's time.
 *   P1. All readers use the snapshot of the run's open transaction.
 *   P2. The first problem of any reader ends all readers and is the outcome of the run.
 */
import type postgres from 'postgres'
import type { KeyRing } from '../keys/wrapping-keys.ts'
import { codeOf } from '../postgres/connection/failure.ts'
import type { LedgerRecord } from '../postgres/migrations/migrate.ts'
import { LEDGER_KEY_NAME, shardKeyName } from '../vault/key-name.ts'
import { placeOf } from '../vault/place.ts'
import type { RowVault } from '../vault/row-vault.ts'
import { UnreadableRow } from '../vault/unreadable-row.ts'
import { eachOwed, type PartCounts, type ShardRange } from './liability-accounts.ts'
import { type BookOptions, type BookPart, LiabilityBook, UnreadableLiability } from './liability-book.ts'
import { connectRun, openSnapshotVault, whileOpen } from './liability-session.ts'

export interface ReaderRange extends BookOptions {
  readonly shards: ShardRange
  /** Value in transit to or from accounts, by account and token (`movingKey`). */
  readonly moving: ReadonlyMap<string, bigint>
  /** Name from `pg_export_snapshot`. Its transaction stays open until the reader has an outcome. */
  readonly snapshot: string
}

/** Can be sent to a thread. */
export interface ReaderTask extends ReaderRange {
  readonly url: string
  readonly readingKeys: KeyRing
  readonly ledger: LedgerRecord
}

export interface PartRead {
  readonly part: BookPart
  readonly counts: PartCounts
  /** Keys of `moving` that are in the book. */
  readonly taken: readonly string[]
  /** Tokens of which an account is owed a negative amount. */
  readonly negative: readonly string[]
}

export type RunFailure =
  /** `table`: has a row that cannot be decrypted or fails a check. */
  | { readonly kind: 'unreadable'; readonly table: string }
  /** `code`: of the driver or the system, or the name of an error. */
  | { readonly kind: 'failed'; readonly code: string }

export type ReaderOutcome = { readonly kind: 'read'; readonly read: PartRead } | RunFailure

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
    return failureOf(error)
  }
}

const SNAPSHOT_NAME = /^[0-9A-F-]+$/

async function readPart(sql: postgres.Sql, task: ReaderTask): Promise<PartRead> {
  const { readingKeys, ledger, snapshot, shards, moving } = task
  if (!SNAPSHOT_NAME.test(snapshot)) throw new UnreadableLiability('The name of the snapshot is invalid.')
  const book = new LiabilityBook(task)
  const taken = new Set<string>()
  const negative = new Set<string>()
  const counts = await sql.begin('ISOLATION LEVEL REPEATABLE READ READ ONLY', async (transaction) => {
    await transaction.unsafe(`SET TRANSACTION SNAPSHOT '${snapshot}'`)
    const vault = openSnapshotVault(readingKeys, ledger)
    await fetchShardKeys(transaction, vault, ledger.shardCount)
    return eachOwed(transaction, vault, shards, (accountId, tokenId, units) => {
      owe(book, negative, accountId, tokenId, units + takeMoving(moving, taken, accountId, tokenId))
    })
  })
  return { part: book.part(), counts, taken: [...taken], negative: [...negative] }
}

export function failureOf(error: unknown): RunFailure {
  if (!(error instanceof UnreadableRow)) return { kind: 'failed', code: codeOf(error) }
  // Leaves out the row: its reference identifies the account.
  return { kind: 'unreadable', table: /^[a-z_.]+/.exec(error.message)?.[0] ?? '' }
}

/** Ranges of similar size that cover all shards. `readers`: at most the number of shards. */
export function rangesOf(shardCount: number, readers: number): readonly ShardRange[] {
  const border = (reader: number): number => Math.floor((reader * shardCount) / readers)
  return Array.from({ length: readers }, (_, reader) => ({ first: border(reader), end: border(reader + 1) }))
}

/** Rejects with UnreadableRow or ReaderFailed. Ends the readers. */
export async function readTogether(running: readonly RunningReader[]): Promise<readonly PartRead[]> {
  try {
    return await Promise.all(running.map(async ({ outcome }) => readOf(await outcome)))
  } finally {
    for (const { end } of running) end()
  }
}

function readOf(outcome: ReaderOutcome): PartRead {
  if (outcome.kind === 'read') return outcome.read
  throw outcome.kind === 'failed'
    ? new ReaderFailed(outcome.code)
    : new UnreadableRow(placeOf(outcome.table), 'a reader could not decrypt a row')
}

/** IDs of accounts and tokens do not contain it. */
const BETWEEN = '\t'

export function movingKey(accountId: string, tokenId: string): string {
  return `${accountId}${BETWEEN}${tokenId}`
}

export function movingOf(key: string): readonly [accountId: string, tokenId: string] {
  const [accountId = '', tokenId = ''] = key.split(BETWEEN)
  return [accountId, tokenId]
}

/** The keys of accounts come with their rows instead. */
async function fetchShardKeys(sql: postgres.ISql, vault: RowVault, shardCount: number): Promise<void> {
  const shards = Array.from({ length: shardCount }, (_, shardId) => shardKeyName(shardId))
  await vault.keys.fetch(sql, [...shards, LEDGER_KEY_NAME])
}

/** Throws UnreadableLiability. */
export function owe(
  book: LiabilityBook,
  negative: Set<string>,
  accountId: string,
  tokenId: string,
  units: bigint,
): void {
  if (units > 0n) book.add(Buffer.from(accountId, 'latin1'), tokenId, units)
  else if (units < 0n) negative.add(tokenId)
}

function takeMoving(
  moving: ReadonlyMap<string, bigint>,
  taken: Set<string>,
  accountId: string,
  tokenId: string,
): bigint {
  if (moving.size === 0) return 0n
  const key = movingKey(accountId, tokenId)
  const units = moving.get(key)
  if (units === undefined || taken.has(key)) return 0n
  taken.add(key)
  return units
}
