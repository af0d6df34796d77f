/**
 * Imports in PostgreSQL, with sealed content.
 *   S1. A head changes only if its status, next part and position are those that were read (compare and set).
 *   S2. A part is stored in the transaction that advances the next part's number.
 *   S3. Staged content is deleted when the import ends, or after a day without a new part.
 *   S4. Imports are accepted one at a time. Each decision sees all earlier ones.
 */
import type postgres from 'postgres'
import { LedgerImportsUnavailable } from '../../runtime/ports/ledger-imports.ts'
import { createQueryPool, type QueryPool } from '../postgres/connection/query-pool.ts'
import { LEDGER_KEY_NAME } from '../vault/key-name.ts'
import type { RowVault } from '../vault/row-vault.ts'
import {
  type HeadRow,
  type ImportHead,
  openHead,
  openPart,
  openPresent,
  type Present,
  sealedHead,
  sealedPart,
  sealedPresent,
  type StagedPart,
} from './import-documents.ts'

export interface ImportStore {
  readonly head: (importId: string) => Promise<ImportHead | undefined>
  /**
   * Stores a new import with its first part. It replaces a refused and settled import with the same ID. `taken`: the ID
   * is in use. `full`: too many imports are being staged.
   */
  readonly begin: (head: ImportHead, part: NewPart) => Promise<'begun' | 'taken' | 'full'>
  /** S1. False: the head is no longer `before`. */
  readonly change: (before: ImportHead, after: ImportHead, more?: MoreChanges) => Promise<boolean>
  /** S1, S4. `next` gets the accepted imports of the same ledger. False: the head is no longer `before`. */
  readonly decide: (before: ImportHead, next: (taken: readonly ImportHead[]) => ImportHead) => Promise<boolean>
  /** Content reference of a stored part. */
  readonly contentOf: (importId: string, part: number) => Promise<string | undefined>
  /** Keyed hash of a part's content. */
  readonly contentRef: (importId: string, text: string) => string
  /** undefined: it was never stored, or is deleted (S3). */
  readonly part: (importId: string, part: number) => Promise<StagedPart | undefined>
  /** undefined: the part has not been staged completely. */
  readonly present: (importId: string, part: number) => Promise<Present | undefined>
  /** Marks the import as driven now. Returns its status; undefined when it does not exist. */
  readonly touch: (importId: string) => Promise<string | undefined>
  /** Deletes an import that is refused while it is staged, if its head is still `before`. */
  readonly discard: (before: ImportHead) => Promise<void>
  /** S3. Settles a refused import. No request of it may be in flight. */
  readonly settle: (importId: string) => Promise<void>
  /** Takes over the unfinished, or the refused and unsettled imports, that no edge has driven for `forMs`. */
  readonly takeOver: (which: 'unfinished' | 'unsettled', forMs: number) => Promise<readonly string[]>
  /** S3. Returns the number of deleted imports. */
  readonly dropStale: (forMs: number) => Promise<number>
  readonly close: () => Promise<void>
}

export interface NewPart {
  readonly part: number
  readonly content: string
  readonly staged: StagedPart
}

/** Changes in the transaction that changes a head. */
export interface MoreChanges {
  /** S2. The next part. */
  readonly next?: NewPart
  /** Lines of a part that existed before. */
  readonly found?: { readonly part: number; readonly present: Present }
  /** S3. Ends the import. No request of it may be in flight. */
  readonly ends?: true
}

/** Imports being staged in the whole ledger. */
export const MAX_STAGED = 8
const STATEMENT_TIMEOUT_MS = 15_000
const POOL_SIZE = 4
/** Advisory locks: arbitrary, and different from every session's key. */
const BEGIN_LOCK = '7810198402634810726'
const DECIDE_LOCK = '7810198402634810727'

export function createImportStore(options: { readonly url: string; readonly vault: RowVault }): ImportStore {
  const { vault } = options
  const pool = createQueryPool({
    url: options.url,
    name: 'ledger imports',
    size: POOL_SIZE,
    statementTimeoutMs: STATEMENT_TIMEOUT_MS,
    unavailable: (message, cause) => new LedgerImportsUnavailable(message, cause),
  })
  const run: QueryPool['run'] = (work) =>
    pool.run(async (sql) => {
      await vault.keys.fetch(sql, [LEDGER_KEY_NAME])
      return work(sql)
    })
  return {
    ...headsOf(run, vault),
    ...partsOf(run, vault),
    ...sweepsOf(run),
    close: pool.close,
  }
}

type Run = QueryPool['run']
type Sql = postgres.Sql | postgres.TransactionSql

function headsOf(run: Run, vault: RowVault): Pick<ImportStore, 'head' | 'begin' | 'change' | 'decide' | 'discard'> {
  return {
    head: (importId) =>
      run(async (sql) => {
        const [row] = await sql<HeadRow[]>`
          SELECT import_id, status, next_part, position, document FROM imports WHERE import_id = ${importId}`
        return row === undefined ? undefined : openHead(row, vault)
      }),
    begin: (head, part) => inTransaction(run, (sql) => begin(sql, head, part, vault)),
    change: (before, after, more) => inTransaction(run, (sql) => change(sql, { before, after }, vault, more)),
    decide: (before, next) =>
      inTransaction(run, async (sql) => {
        await sql`SELECT pg_advisory_xact_lock(${DECIDE_LOCK}::bigint)`
        const rows = await sql<HeadRow[]>`
          SELECT import_id, status, next_part, position, document FROM imports WHERE status IN ('taking', 'done')`
        const taken = rows.map((row) => openHead(row, vault))
        const after = next(taken.filter((head) => head.source.ledgerId === before.source.ledgerId))
        return change(sql, { before, after }, vault)
      }),
    discard: (before) =>
      inTransaction(run, async (sql) => {
        const { count } = await sql`DELETE FROM imports WHERE ${isAt(sql, before)}`
        if (count > 0) await sql`DELETE FROM import_parts WHERE import_id = ${before.importId}`
      }),
  }
}

async function begin(sql: Sql, head: ImportHead, part: NewPart, vault: RowVault): Promise<'begun' | 'taken' | 'full'> {
  const { importId, status, nextPart, position } = head
  await sql`SELECT pg_advisory_xact_lock(${BEGIN_LOCK}::bigint)`
  await sql`DELETE FROM imports WHERE import_id = ${importId} AND status = 'refused' AND settled`
  const [row] = await sql<{ readonly taken: boolean; readonly staged: number }[]>`
    SELECT EXISTS (SELECT FROM imports WHERE import_id = ${importId}) AS taken,
           (SELECT count(*) FROM imports WHERE status = 'staging')::integer AS staged`
  if (row?.taken === true) return 'taken'
  if ((row?.staged ?? 0) >= MAX_STAGED) return 'full'
  await sql`DELETE FROM import_parts WHERE import_id = ${importId}`
  await sql`
    INSERT INTO imports (import_id, status, next_part, position, document)
    VALUES (${importId}, ${status}, ${nextPart}, ${position}, decode(${sealedHead(head, vault)}, 'hex'))`
  await insertPart(sql, importId, part, vault)
  return 'begun'
}

function isAt(sql: Sql, { importId, status, nextPart, position }: ImportHead) {
  return sql`import_id = ${importId} AND status = ${status} AND next_part = ${nextPart} AND position = ${position}`
}

/** S1. */
async function change(
  sql: Sql,
  { before, after }: { readonly before: ImportHead; readonly after: ImportHead },
  vault: RowVault,
  { next, found, ends }: MoreChanges = {},
): Promise<boolean> {
  const { importId } = after
  const { count } = await sql`
    UPDATE imports
       SET status = ${after.status}, next_part = ${after.nextPart}, position = ${after.position},
           document = decode(${sealedHead(after, vault)}, 'hex'), updated_at = now(), driven_at = now()
     WHERE ${isAt(sql, before)}`
  if (count === 0) return false
  if (next !== undefined) await insertPart(sql, importId, next, vault)
  if (found !== undefined) {
    const hex = sealedPresent(importId, found.part, found.present, vault)
    await sql`
      UPDATE import_parts SET present = decode(${hex}, 'hex')
       WHERE import_id = ${importId} AND part = ${found.part} AND present IS NULL`
  }
  if (ends === true) await settle(sql, importId)
  return true
}

/** S3. In one transaction, so that a new import with this ID sees both changes. */
async function settle(sql: Sql, importId: string): Promise<void> {
  const { count } = await sql`
    UPDATE imports SET settled = true WHERE import_id = ${importId} AND status IN ('done', 'refused') AND NOT settled`
  if (count === 0) return
  await sql`UPDATE import_parts SET document = NULL, present = NULL WHERE import_id = ${importId}`
}

async function insertPart(sql: Sql, importId: string, part: NewPart, vault: RowVault): Promise<void> {
  await sql`
    INSERT INTO import_parts (import_id, part, content, document)
    VALUES (${importId}, ${part.part}, ${part.content},
            decode(${sealedPart(importId, part.part, part.staged, vault)}, 'hex'))`
}

function partsOf(run: Run, vault: RowVault): Pick<ImportStore, 'contentOf' | 'contentRef' | 'part' | 'present'> {
  const read = <Stored, Value>(
    column: 'content' | 'document' | 'present',
    [importId, part]: readonly [importId: string, part: number],
    valueOf: (stored: Stored) => Value,
  ): Promise<Value | undefined> =>
    run(async (sql) => {
      const [row] = await sql<{ readonly stored: Stored | null }[]>`
        SELECT ${sql(column)} AS stored FROM import_parts WHERE import_id = ${importId} AND part = ${part}`
      const stored = row?.stored ?? null
      return stored === null ? undefined : valueOf(stored)
    })
  return {
    contentRef: (importId, text) => vault.keyRef(importId, text),
    contentOf: (...at) => read('content', at, (content: string) => content),
    part: (...at) => read('document', at, (document: Buffer) => openPart(...at, document, vault)),
    present: (...at) => read('present', at, (present: Buffer) => openPresent(...at, present, vault)),
  }
}

const STATUSES = {
  unfinished: ['checking', 'applying', 'taking', 'refusing'],
  unsettled: ['refused'],
}

function sweepsOf(run: Run): Pick<ImportStore, 'touch' | 'settle' | 'takeOver' | 'dropStale'> {
  const seconds = (ms: number): string => `${ms / 1_000} seconds`
  return {
    touch: (importId) =>
      run(async (sql) => {
        const [row] = await sql<{ readonly status: string }[]>`
          UPDATE imports SET driven_at = now() WHERE import_id = ${importId} RETURNING status`
        return row?.status
      }),
    settle: (importId) => inTransaction(run, (sql) => settle(sql, importId)),
    takeOver: (which, forMs) =>
      run(async (sql) => {
        const rows = await sql<{ readonly import_id: string }[]>`
          UPDATE imports SET driven_at = now()
           WHERE status IN ${sql(STATUSES[which])} AND NOT settled
             AND driven_at <= now() - ${seconds(forMs)}::interval
          RETURNING import_id`
        return rows.map((row) => row.import_id)
      }),
    dropStale: (forMs) =>
      run(async (sql) => {
        const { count } = await sql`
          WITH stale AS (
            DELETE FROM imports WHERE status = 'staging' AND updated_at <= now() - ${seconds(forMs)}::interval
            RETURNING import_id
          ), parts AS (DELETE FROM import_parts WHERE import_id IN (SELECT import_id FROM stale))
          SELECT import_id FROM stale`
        return count
      }),
  }
}

async function inTransaction<T>(run: Run, work: (sql: postgres.TransactionSql) => Promise<T>): Promise<T> {
  const { value } = await run((sql) => sql.begin(async (transaction) => ({ value: await work(transaction) })))
  return value
}
