/**
 * Compares the log of a ledger with its rows, with a checkpoint file and with the head that it published.
 *   L1. The tree of the log is that of its entries, and continues the heads that the file names and that was published.
 *   L2. Each row has its entry in the log, and each entry its row. Each transaction that is an entry of a chain is of a
 *       commit: the log finds it by that.
 *   L3. The administrative chain has all its links, and its rows are as they were written.
 *   L4. The ledger has the statement of the file, which is a row like the others.
 */
import type postgres from 'postgres'
import { TreeProofs } from '../../runtime/log/tree-proofs.ts'
import { LogStoreUnavailable } from '../../runtime/ports/log-store.ts'
import { problemOfTree } from '../log/checked-tree.ts'
import { compareRows, type GoneEntry, type LackingRow } from '../log/compared-rows.ts'
import { accountLogKey, administrativeLogKey, EntrySalts, tagOfEntry, tagOfSalt } from '../log/log-entry.ts'
import { EVERY_XID, type LogRow, readLogRows } from '../log/log-rows.ts'
import { ownHeadOf, readLogState } from '../log/log-state.ts'
import { readHashes } from '../log/log-store-postgres.ts'
import type { DeriveKey } from '../keys/root-secret.ts'
import type { RowVault } from '../vault/row-vault.ts'
import { checkAdministrativeEntries } from './checkpoint-administrative.ts'
import { idsOf } from './checkpoint-accounts.ts'
import type { CheckpointFile } from './checkpoint-file.ts'
import { type FileStatement, hashOfStatement } from './checkpoint-statement.ts'

const ACCOUNTS_PER_FETCH = 2_000

export interface LogCheck {
  readonly sql: postgres.Sql
  readonly vault: RowVault
  readonly derive: DeriveKey
  /** Takes each problem as text. */
  readonly report: (problem: string) => void
  /** Takes the number of entries of the log that were read so far. */
  readonly progress: (entries: number) => void
}

export interface CheckedLog {
  /** Entries of the log. */
  readonly entries: number
  /** Rows that are newer than the log. */
  readonly newer: number
}

/** Heads of the log at an earlier time. */
export type KnownHeads = Pick<FileStatement, 'as_of' | 'log_head' | 'log_published'>

export async function checkLog(check: LogCheck, file: CheckpointFile): Promise<CheckedLog> {
  const [statement] = await check.sql`SELECT FROM log_statements WHERE hash = ${hashOfStatement(file.signed)}`
  if (statement === undefined) check.report('the ledger does not have the statement of this file any more')
  return checkLogSince(check, file.statement)
}

/** L1 to L3. */
export async function checkLogSince(check: LogCheck, known: KnownHeads): Promise<CheckedLog> {
  await checkHeads(check, known)
  await checkCommits(check)
  const checked = await checkRows(check)
  await checkAdministrativeEntries(check)
  return checked
}

/** L1. */
async function checkHeads(
  { sql, derive, report, progress }: LogCheck,
  { as_of: asOf, log_head: known, log_published: note }: KnownHeads,
): Promise<void> {
  const { head, published } = await readLogState(sql)
  if (head !== undefined) {
    const problem = await problemOfTree(sql, head, progress)
    if (problem !== undefined) report(`the log has changed: ${problem}`)
  }
  const size = head?.size ?? 0
  const heads = [
    { name: `its head of ${asOf}`, ...(known ?? { size: 0, root: '' }) },
    ...(await publishedHeads(`the head that it had published at ${asOf}`, note ?? undefined, { derive, report })),
    ...(await publishedHeads('the head that it published', published, { derive, report })),
  ]
  for (const { name, size: before, root } of heads) {
    if (before > size) report(`the log was rolled back: it has ${size} entries, and ${name} had ${before}`)
    else if (before > 0 && (await rootAt(sql, before)) !== root) {
      report(`the log does not continue ${name}: its first ${before} entries are others`)
    }
  }
}

async function publishedHeads(
  name: string,
  note: string | undefined,
  { derive, report }: Pick<LogCheck, 'derive' | 'report'>,
) {
  if (note === undefined) return []
  const head = await ownHeadOf(note, derive)
  if (head === undefined) report(`the ledger did not sign ${name}`)
  return head === undefined ? [] : [{ name, size: head.size, root: rootText(head.root) }]
}

/** Undefined if the log lacks a tile. */
async function rootAt(sql: postgres.Sql, size: number): Promise<string | undefined> {
  let isWhole = true
  const proofs = new TreeProofs(async (...tile) => {
    const hashes = await readHashes(sql, ...tile)
    isWhole &&= hashes !== undefined
    return hashes ?? Buffer.alloc(0)
  }, size)
  const root = await proofs.root()
  return isWhole ? rootText(root) : undefined
}

function rootText(root: Uint8Array): string {
  return `sha256:${Buffer.from(root).toString('hex')}`
}

/** L2. */
async function checkRows(check: LogCheck): Promise<CheckedLog> {
  const { sql, derive, progress } = check
  const logKey = derive('log-entries')
  const gone = new Set<string>()
  let [from, entries] = [0n, 0]
  for (;;) {
    const compared = await compareRows(sql, from, logKey).catch((error: unknown) => {
      if (!(error instanceof LogStoreUnavailable)) throw error
      check.report(error.message)
    })
    if (compared === undefined) break
    await reportRows(check, compared.lacking, compared.gone)
    const changed = new Set(compared.lacking.map(({ entry }) => tagOf(entry)))
    const lost = compared.gone.filter(({ entry }) => !changed.has(tagOf(entry)))
    reportBatches(check, lost)
    for (const { entry } of lost) gone.add(tagOf(entry))
    from = compared.until
    entries += compared.entries
    progress(entries)
  }
  if (gone.size > 0) {
    await reportShortened(check, logKey, gone)
    await reportAdministrative(check, logKey, gone)
  }
  let newer = 0
  await readLogRows(sql, { from, until: EVERY_XID }, logKey, () => (newer += 1) > 0)
  return { entries, newer }
}

/** L2. Names the entries of chains that readLogRows passes over. */
async function checkCommits({ sql, vault, report }: LogCheck): Promise<void> {
  const batches = sql<{ shard_id: number; account_id: string; sequence: string }[]>`
    SELECT shard_id, account_id, sequence FROM transactions t
     WHERE sequence IS NOT NULL AND NOT EXISTS (
       SELECT FROM commits c WHERE c.commit_xid = t.ended_xid AND t.txn_id = ANY (c.final || c.ended))`.cursor(
    ACCOUNTS_PER_FETCH,
  )
  const found: { shardId: number; accountRef: string; sequence: string }[] = []
  for await (const rows of batches) {
    for (const { shard_id: shardId, account_id: accountRef, sequence } of rows)
      found.push({ shardId, accountRef, sequence })
  }
  const ids = await idsOf(sql, vault, found)
  for (const { accountRef, sequence } of found) {
    report(`account ${nameOf(accountRef, ids)}: its entry ${sequence} is of no commit, so the log never gets it`)
  }
}

/** The tag of an entry depends on the account and the sequence alone. */
function tagOf(entry: Buffer): string {
  return tagOfEntry(entry).toString('latin1')
}

async function reportRows(
  { sql, vault, report }: LogCheck,
  lacking: readonly LackingRow[],
  gone: readonly GoneEntry[],
): Promise<void> {
  if (lacking.length === 0) return
  const known = new Set(gone.map(({ entry }) => tagOf(entry)))
  const ids = await idsOf(
    sql,
    vault,
    lacking.flatMap(({ chain }) => (chain.kind === 'account' ? [chain] : [])),
  )
  for (const row of lacking) {
    report(`${entryName(row, ids)} ${known.has(tagOf(row.entry)) ? 'is not the one in the log' : 'is not in the log'}`)
  }
}

function entryName({ chain, sequence }: LogRow, ids: ReadonlyMap<string, string>): string {
  if (chain.kind === 'account') return `account ${nameOf(chain.accountRef, ids)}: its entry ${sequence}`
  return chain.kind === 'administrative'
    ? `administrative entry ${sequence}`
    : `statement ${sequence} of a checkpoint file`
}

function nameOf(accountRef: string, ids: ReadonlyMap<string, string>): string {
  const accountId = ids.get(accountRef)
  return accountId === undefined || accountId === accountRef ? accountRef : `${accountId} (${accountRef})`
}

/** `lost`: in the order of their places. */
function reportBatches({ report }: LogCheck, lost: readonly GoneEntry[]): void {
  const counts = new Map<number, { readonly addedAt: Date; readonly count: number }>()
  for (const { first, addedAt } of lost) counts.set(first, { addedAt, count: (counts.get(first)?.count ?? 0) + 1 })
  for (const [first, { addedAt, count }] of counts) {
    report(
      `${count} entries of the log are gone from the rows: of the batch at ${first}, added ${addedAt.toISOString()}`,
    )
  }
}

/** Names the accounts whose next entry is among those that are gone. `gone`: tags. */
async function reportShortened(
  { sql, vault, report }: LogCheck,
  logKey: Buffer,
  gone: ReadonlySet<string>,
): Promise<void> {
  const batches = sql<{ shard_id: number; account_id: string; sequence: string }[]>`
    SELECT shard_id, account_id, sequence FROM accounts ORDER BY shard_id, account_id`.cursor(ACCOUNTS_PER_FETCH)
  const shortened: { shardId: number; accountRef: string; sequence: number }[] = []
  for await (const rows of batches) {
    for (const { shard_id: shardId, account_id: accountRef, sequence } of rows) {
      const salt = new EntrySalts(accountLogKey(logKey, accountRef)).of(Number(sequence) + 1)
      if (gone.has(tagOfSalt(salt).toString('latin1')))
        shortened.push({ shardId, accountRef, sequence: Number(sequence) })
    }
  }
  const ids = await idsOf(sql, vault, shortened)
  for (const { accountRef, sequence } of shortened) {
    report(`account ${nameOf(accountRef, ids)}: it ends with entry ${sequence}, and the log has its next one`)
  }
}

/** Names removed administrative entries. Sequences have no gaps: all are below the number of rows and gone entries. */
async function reportAdministrative(
  { sql, report }: LogCheck,
  logKey: Buffer,
  gone: ReadonlySet<string>,
): Promise<void> {
  const [row] = await sql<{ count: string }[]>`SELECT count(*) FROM administrative_entries`
  const salts = new EntrySalts(administrativeLogKey(logKey))
  const end = Number(row?.count ?? 0) + gone.size
  for (let sequence = 0; sequence < end; sequence += 1) {
    const tag = tagOfSalt(salts.of(sequence)).toString('latin1')
    if (gone.has(tag)) report(`administrative entry ${sequence} is gone from the rows`)
  }
}
