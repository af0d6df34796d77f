/**
 * Stored runs. A run's seed and its tokens with their roots are one sealed document, which every proof of the run needs.
 */
import * as v from 'valibot'
import type postgres from 'postgres'
import type { Hash } from '../../actors/audit-chain.ts'
import { decimalOf, unitsOf } from '../../runtime/liabilities/sums.ts'
import type { Liabilities } from '../../runtime/ports/assertion-source.ts'
import { openSealed, seal } from '../keys/sealing.ts'
import type { BuiltTrees } from './liability-trees.ts'

export interface LiabilityRun {
  readonly runId: string
  readonly asOfMs: number
  readonly merkleRoot: Hash
  readonly document: RunDocument
}

export interface RunDocument {
  readonly seed: Buffer
  readonly sharesEach: number
  readonly indexPages: number
  /** By rank. */
  readonly tokens: readonly RunToken[]
}

export interface RunToken {
  readonly tokenId: string
  readonly root: Hash
  readonly units: bigint
  readonly leaves: number
}

/** How long a run is kept after its last use. */
const KEPT_SECONDS = 86_400
/** Pages per DELETE statement. */
const DELETED_PAGES = 2_000

const documentSchema = v.object({
  format: v.literal(1),
  seed: v.string(),
  shares_each: v.number(),
  index_pages: v.number(),
  tokens: v.array(v.tuple([v.string(), v.string(), v.string(), v.number()])),
})

export function sealDocument(key: Buffer, runId: string, document: RunDocument): Buffer {
  const text = JSON.stringify({
    format: 1,
    seed: document.seed.toString('base64url'),
    shares_each: document.sharesEach,
    index_pages: document.indexPages,
    tokens: document.tokens.map(({ tokenId, root, units, leaves }) => [tokenId, root, decimalOf(units), leaves]),
  } satisfies v.InferInput<typeof documentSchema>)
  return seal(key, ['liability-run', runId], Buffer.from(text))
}

/** Throws SealBroken, or a valibot error for a document of another version. */
export function openDocument(key: Buffer, runId: string, sealed: Uint8Array): RunDocument {
  const opened = openSealed(key, ['liability-run', runId], sealed).toString('utf8')
  const document = v.parse(documentSchema, JSON.parse(opened))
  return {
    seed: Buffer.from(document.seed, 'base64url'),
    sharesEach: document.shares_each,
    indexPages: document.index_pages,
    tokens: document.tokens.map(([tokenId, root, total, leaves]) => ({ tokenId, root, units: unitsOf(total), leaves })),
  }
}

export function liabilitiesOf({ asOfMs, merkleRoot, document }: Omit<LiabilityRun, 'runId'>): Liabilities {
  return {
    totalLiabilities: decimalOf(document.tokens.reduce((sum, { units }) => sum + units, 0n)),
    byToken: document.tokens.map(({ tokenId, units }) => ({ tokenId, total: decimalOf(units) })),
    merkleRoot,
    asOfMs,
  }
}

/** Begins a run. `asOf`: text from PostgreSQL, because the driver would round a Date to milliseconds. */
export async function beginRun(
  sql: postgres.Sql,
  asOf: string,
): Promise<{ readonly runId: string; readonly asOfMs: number }> {
  const [row] = await sql<{ run_id: string; as_of: Date }[]>`
    INSERT INTO liability_runs (as_of) VALUES (${asOf}::text::timestamptz) RETURNING run_id, as_of`
  if (row === undefined) throw new Error('the run was not stored')
  return { runId: row.run_id, asOfMs: row.as_of.getTime() }
}

/** Makes the run available for proofs. */
export async function completeRun(
  sql: postgres.Sql,
  run: { readonly runId: string; readonly sizeBytes: number; readonly document: Buffer },
  { merkleRoot }: Pick<BuiltTrees, 'merkleRoot'>,
): Promise<void> {
  await sql`
    UPDATE liability_runs
       SET merkle_root = ${Buffer.from(merkleRoot, 'hex')}, document = ${run.document},
           size_bytes = ${run.sizeBytes + run.document.length}, used_at = clock_timestamp()
     WHERE run_id = ${run.runId}`
}

/**
 * Whether the runs of the last day leave room for another one, so that requests in a loop cannot fill the disk. A run counts less
 * the older it is, so a burst delays the next run by hours, not by a day; a day's runs take at most twice the capacity. Age counts,
 * not the last use: a run that is requested again and again must not keep its successor from being made.
 */
export async function hasRoom(sql: postgres.Sql, capacityBytes: number): Promise<boolean> {
  const [row] = await sql<{ fits: boolean }[]>`
    SELECT coalesce(sum(size_bytes * (1 - extract(epoch FROM now() - as_of) / ${KEPT_SECONDS})), 0)
             < ${capacityBytes} AS fits
      FROM liability_runs WHERE as_of > now() - make_interval(secs => ${KEPT_SECONDS})`
  return row?.fits === true
}

export interface RunRow {
  readonly run_id: string
  readonly as_of: Date
  readonly merkle_root: Buffer
}

/** `merkleRoot`: null for the latest run. */
export async function findRun(sql: postgres.Sql, merkleRoot: Hash | null): Promise<RunRow | undefined> {
  const rooted =
    merkleRoot === null ? sql`merkle_root IS NOT NULL` : sql`merkle_root = ${Buffer.from(merkleRoot, 'hex')}`
  const [row] = await sql<RunRow[]>`
    SELECT run_id, as_of, merkle_root FROM liability_runs
     WHERE ${rooted} AND used_at > now() - make_interval(secs => ${KEPT_SECONDS})
     ORDER BY run_id DESC LIMIT 1`
  return row
}

/** Finds the latest run whose snapshot is not older than `notBefore`, and marks it as used now. */
export async function takeLatestRun(sql: postgres.Sql, notBefore: string): Promise<RunRow | undefined> {
  const [row] = await sql<RunRow[]>`
    UPDATE liability_runs SET used_at = clock_timestamp()
     WHERE run_id = (SELECT run_id FROM liability_runs
                      WHERE merkle_root IS NOT NULL AND as_of >= ${notBefore}::text::timestamptz
                        AND used_at > now() - make_interval(secs => ${KEPT_SECONDS})
                      ORDER BY run_id DESC LIMIT 1)
    RETURNING run_id, as_of, merkle_root`
  return row
}

export async function readDocument(sql: postgres.Sql, runId: string): Promise<Buffer | undefined> {
  const [row] = await sql<{ document: Buffer }[]>`SELECT document FROM liability_runs WHERE run_id = ${runId}`
  return row?.document
}

/** The caller must hold the lock of the runs: a run in progress looks like a crashed one. */
export async function removeOldRuns(sql: postgres.Sql): Promise<void> {
  const old = await sql<{ run_id: string }[]>`
    SELECT run_id FROM liability_runs
     WHERE used_at IS NULL OR used_at <= now() - make_interval(secs => ${KEPT_SECONDS})`
  for (const { run_id: runId } of old) {
    let deleted = DELETED_PAGES
    while (deleted === DELETED_PAGES) {
      const { count } = await sql`
        DELETE FROM liability_pages WHERE ctid = ANY (ARRAY(
          SELECT ctid FROM liability_pages WHERE run_id = ${runId} LIMIT ${DELETED_PAGES}))`
      deleted = count
    }
    await sql`DELETE FROM liability_runs WHERE run_id = ${runId}`
  }
}
