/**
 * One run of the proof of liabilities, on its own connection. It computes for seconds and is meant for its own thread.
 *   R1. One run at a time in the whole ledger. An advisory lock ensures this, and ends with the connection.
 *   R2. The snapshot is newer than the request, also if another process made the run. Only without room for another run
 *       is the latest run returned again, with its time.
 *   R3. The next run or removal deletes what a crashed run has stored.
 */
import { randomBytes } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { SEED_BYTES } from '../../runtime/liabilities/keyed-hash.ts'
import type { ExceededLimit, Liabilities } from '../../runtime/ports/assertion-source.ts'
import type { KeyRing } from '../keys/wrapping-keys.ts'
import { type Connection, DeadlinePassed, type Sql, withDeadline } from '../postgres/connection/connection.ts'
import { readLedger } from '../postgres/migrations/migrate.ts'
import { UnreadableRow } from '../vault/unreadable-row.ts'
import { failureOf, type RunFailure, type StartReader, startReaderHere } from './liability-readers.ts'
import {
  beginRun,
  completeRun,
  hasRoom,
  liabilitiesOf,
  openDocument,
  readDocument,
  removeOldRuns,
  type RunDocument,
  type RunRow,
  sealDocument,
  takeLatestRun,
} from './liability-runs.ts'
import { type Readers, readSnapshot, type Snapshot, type SnapshotOptions } from './liability-snapshot.ts'
import { buildTrees } from './liability-trees.ts'
import { createPageCopy } from './page-copy.ts'
import { connectRun, LimitExceeded, openSnapshotVault, tryLock, whileOpen } from './liability-session.ts'

/** Can be sent to a thread. Secrets are key objects, or wiped by the thread. */
export interface LiabilityTask {
  readonly url: string
  /** Master keys that open the ledger's rows. */
  readonly readingKeys: KeyRing
  /** 32 bytes that seal the stored pages. */
  readonly sealingKey: Uint8Array
  readonly sharesEach: number
  readonly maxRows: number
  readonly capacityBytes: number
  /** Most concurrent readers. */
  readonly maxReaders: number
  /** Balances per reader. */
  readonly rowsAReader: number
  /** Time limit of the snapshot. */
  readonly snapshotTimeoutMs: number
}

export type LiabilityOutcome =
  /** `snapshotMs`: duration of its snapshot; null for an earlier run. */
  | { readonly kind: 'done'; readonly liabilities: Liabilities; readonly snapshotMs: number | null }
  | { readonly kind: 'unreconciled'; readonly tokenIds: readonly string[] }
  | { readonly kind: 'exceeded'; readonly limit: ExceededLimit }
  | RunFailure

const LOCK_POLL_MS = 100
const LOCK_WAIT_MS = 60_000
const BEGINNING_OF_TIME = '-infinity'

/** Never rejects. `startReader` starts the readers, unless one is enough: then it reads in this thread. */
export async function runLiabilities(
  task: LiabilityTask,
  startReader: StartReader = startReaderHere,
): Promise<LiabilityOutcome> {
  let connection: Connection | undefined
  try {
    connection = await connectRun(task.url, 'ledger:liabilities')
    return await whileOpen(connection, findOrCompute(connection, { ...task, startReader }))
  } catch (error) {
    if (error instanceof LimitExceeded) return { kind: 'exceeded', limit: error.limit }
    return failureOf(error)
  } finally {
    connection?.destroy()
  }
}

interface ThreadedTask extends LiabilityTask {
  readonly startReader: StartReader
}

async function findOrCompute(connection: Connection, task: ThreadedTask): Promise<LiabilityOutcome> {
  const { sql } = connection
  const key = Buffer.from(task.sealingKey)
  const askedAt = await takeLock(sql)
  const shared = await takeLatestRun(sql, askedAt)
  if (shared !== undefined) return earlierRun(sql, key, shared)
  await removeOldRuns(sql)
  if (!(await hasRoom(sql, task.capacityBytes))) {
    const latest = await takeLatestRun(sql, BEGINNING_OF_TIME)
    if (latest !== undefined) return earlierRun(sql, key, latest)
  }
  return compute(connection, task, key)
}

/** Returns the server's time before the wait. It polls because a waiting statement would delay vacuuming. */
async function takeLock(sql: Sql): Promise<string> {
  const [asked] = await sql<{ at: string }[]>`SELECT clock_timestamp()::text AS at`
  const deadlineMs = performance.now() + LOCK_WAIT_MS
  for (;;) {
    if (await tryLock(sql)) return asked?.at ?? BEGINNING_OF_TIME
    if (performance.now() > deadlineMs) throw new Error('other runs did not end in time')
    await pause(LOCK_POLL_MS)
  }
}

async function earlierRun(sql: Sql, key: Buffer, row: RunRow): Promise<LiabilityOutcome> {
  const sealed = await readDocument(sql, row.run_id)
  if (sealed === undefined) throw new Error('a run is gone')
  const document = openDocument(key, row.run_id, sealed)
  const merkleRoot = row.merkle_root.toString('hex')
  return {
    kind: 'done',
    liabilities: liabilitiesOf({ asOfMs: row.as_of.getTime(), merkleRoot, document }),
    snapshotMs: null,
  }
}

async function compute(connection: Connection, task: ThreadedTask, key: Buffer): Promise<LiabilityOutcome> {
  const { url, readingKeys, startReader } = task
  const seed = randomBytes(SEED_BYTES)
  const ledger = await readLedger(connection.sql)
  if (ledger === undefined) throw new Error('the database contains no ledger of this schema version')
  const vault = openSnapshotVault(readingKeys, ledger)
  const readers: Readers = {
    most: task.maxReaders,
    rowsEach: task.rowsAReader,
    start: (range) => {
      const isOnlyOne = range.shards.end - range.shards.first === ledger.shardCount
      const reader = (isOnlyOne ? startReaderHere : startReader)({ ...range, url, readingKeys, ledger })
      connection.onClosed(reader.end)
      return reader
    },
  }
  const startedMs = performance.now()
  const snapshot = await readInTime(connection, task, { vault, seed, readers })
  if (snapshot.kind === 'unreconciled') return snapshot
  const snapshotMs = Math.round(performance.now() - startedMs)
  const liabilities = await store(connection, snapshot, { key, seed })
  return { kind: 'done', liabilities, snapshotMs }
}

/** Throws LimitExceeded, or like `readSnapshot`. */
async function readInTime(
  connection: Connection,
  { sharesEach, maxRows, snapshotTimeoutMs: limitMs }: ThreadedTask,
  options: Pick<SnapshotOptions, 'vault' | 'seed' | 'readers'>,
): Promise<Snapshot> {
  let balances: number | null = null
  const onCounted = (counted: number): void => void (balances = counted)
  const endsMs = performance.now() + limitMs
  try {
    return await withDeadline(
      readSnapshot(connection.sql, { ...options, sharesEach, maxRows, onCounted }),
      limitMs,
      connection.destroy,
    )
  } catch (cause) {
    // PostgreSQL cancels the statement at the same time; its error may come first.
    const isLate = cause instanceof DeadlinePassed || performance.now() >= endsMs
    throw isLate && !(cause instanceof UnreadableRow)
      ? new LimitExceeded({ kind: 'time', balances, limitMs }, { cause })
      : cause
  }
}

async function store(
  connection: Connection,
  { asOf, book }: Extract<Snapshot, { readonly kind: 'reconciled' }>,
  { key, seed }: { readonly key: Buffer; readonly seed: Buffer },
): Promise<Liabilities> {
  const { runId, asOfMs } = await beginRun(connection.sql, asOf)
  const pages = createPageCopy(connection, runId, key)
  const built = await buildTrees(book, seed, pages)
  await pages.end()
  const { tokens, indexPages, merkleRoot } = built
  const document: RunDocument = { seed, sharesEach: book.sharesEach, indexPages, tokens }
  const sealed = sealDocument(key, runId, document)
  await completeRun(connection.sql, { runId, sizeBytes: pages.sizeBytes(), document: sealed }, built)
  return liabilitiesOf({ asOfMs, merkleRoot, document })
}
