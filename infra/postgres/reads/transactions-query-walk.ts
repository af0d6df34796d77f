/**
 * How a list of transactions walks through the table: newest first by ID, or in the order of the feed; a part of a page
 * at a time. Rules L1 to L3 of transactions-query.ts.
 */
import type { TransactionCursor, TransactionQuery } from '../../../runtime/ports/ledger-reads.ts'
import { arrayLiteral } from '../connection/array-literal.ts'
import type { PlaceRow } from '../rows/transaction-rows.ts'
import { countRelation } from './transactions-query-count.ts'
import {
  all,
  createdConditions,
  dateConditions,
  type Fragment,
  groupRefsOf,
  hasAmounts,
  isNarrow,
  narrowConditions,
  ofGroup,
  remainingConditions,
  type Look,
  walkedTransactions,
} from './transactions-query-filters.ts'
import { takeRows } from '../connection/prepared.ts'
import { TRANSACTION_ROW_COLUMNS } from '../rows/transaction-document.ts'

/** L1. */
export const EXAMINED_ROWS = 5_000
/** L1: of each reference of a group. */
const HELD_OF_A_REFERENCE = 128

interface Framed {
  readonly counted: string | null
  readonly count_exact: boolean | null
  readonly horizon_xid: string | null
  readonly horizon_txn_id: string | null
  readonly entered_xid: string | null
}

/** One row at least, also where nothing was found: then `txn_id` is null. */
export type PageRow<Row extends PlaceRow> = (Row | { readonly txn_id: null }) & Framed

export type Found<Row extends PlaceRow> = Row & Framed

/** As far as a page may go; null: to the end. */
export interface Horizon {
  readonly horizon_xid: string | null
  readonly horizon_txn_id: string | null
}

/** A part of a page: so many rows behind a place. */
interface Part {
  readonly after: TransactionCursor | null
  readonly size: number
  /** That of the page; undefined: this is its first part, which finds it. */
  readonly within: Horizon | undefined
}

export type Select<Row extends PlaceRow> = (part: Part) => Promise<readonly PageRow<Row>[]>

export function foundIn<Row extends PlaceRow>(rows: readonly PageRow<Row>[]): readonly Found<Row>[] {
  return rows.filter((row): row is Found<Row> => row.txn_id !== null)
}

export interface FeedPosition {
  /** A PostgreSQL transaction number (xid8) in decimal. */
  readonly position: string
  readonly txnId: string
}

export function feedStart(after: TransactionCursor | null): FeedPosition {
  const position = after?.position ?? '0'
  return { position: /^[0-9]{1,20}$/.test(position) ? position : '0', txnId: after?.txnId ?? '' }
}

/** How these columns of parts of the page are read: one row more than asked for, if there is one. */
export async function selecting<Row extends PlaceRow>(
  look: Look,
  columns: readonly (keyof Row & string)[],
): Promise<Select<Row>> {
  const { query } = look
  if (query.order === 'desc') return (part) => newestFirst<Row>(look, { ...part, columns })
  const isSmall = isNarrow(query) && (await holdsFew(look))
  return (part) => feed<Row>(look, { ...part, columns, isSmall })
}

/** Whether the end of the page is to be looked for: rows are held against something that the walk's index does not serve. */
function isHeld(query: TransactionQuery, rest: readonly Fragment[]): boolean {
  return rest.length > 0 || hasAmounts(query)
}

async function newestFirst<Row extends PlaceRow>(look: Look, part: Part & Columns): Promise<readonly PageRow<Row>[]> {
  const { sql, query } = look
  const { size, within, columns } = part
  const rest = remainingConditions(look)
  const held = isHeld(query, rest)
  const walk = query.groupId === null ? walkOfAll(look, part) : walkOfGroup(look, { ...part, held })
  const found = held ? walk.horizon : sql`NULL::text`
  const horizon = within === undefined ? found : sql`${within.horizon_txn_id}::text`
  const isWithin = held ? sql`txn_id >= coalesce(bound.horizon_txn_id, '')` : sql`true`
  return await takeRows(sql<PageRow<Row>[]>`
    WITH ${walk.ids}
         bound AS MATERIALIZED (SELECT NULL::text AS horizon_xid, ${horizon} AS horizon_txn_id)
    SELECT counting.counted, counting.count_exact, bound.horizon_xid, bound.horizon_txn_id, page.*
    FROM ${countRelation(look)} counting CROSS JOIN bound
    LEFT JOIN LATERAL (
      SELECT ${sql(columns)}, NULL::text AS entered_xid FROM ${walk.rows(isWithin)} AND ${all(sql, rest)}
      ORDER BY txn_id DESC LIMIT ${size + 1}
    ) page ON true
    ORDER BY page.txn_id DESC`)
}

interface NewestFirst {
  /** A common table expression, or nothing. */
  readonly ids: Fragment
  /** As far as a page may go where rows are held against conditions, a scalar. */
  readonly horizon: Fragment
  /** A relation with its conditions. */
  readonly rows: (isWithin: Fragment) => Fragment
}

function walkOfAll(look: Look, { after }: Pick<Part, 'after'>): NewestFirst {
  const { sql } = look
  const walked = all(sql, [
    ...narrowConditions(look),
    ...dateConditions(look),
    ...(after === null ? [] : [sql`txn_id < ${after.txnId}`]),
  ])
  return {
    ids: sql``,
    horizon: sql`(SELECT txn_id FROM all_transactions WHERE ${walked} ORDER BY txn_id DESC OFFSET ${EXAMINED_ROWS - 1} LIMIT 1)`,
    rows: (isWithin) => sql`all_transactions WHERE ${walked} AND ${isWithin}`,
  }
}

/**
 * The IDs of each reference first, no more than a page may need: where rows are held against conditions, the page ends where
 * those of one reference do, for there may be more of it behind them.
 */
function walkOfGroup(
  look: Look,
  { after, size, held }: Pick<Part, 'after' | 'size'> & { readonly held: boolean },
): NewestFirst {
  const { sql, query } = look
  const ofOne = query.accountId === null ? HELD_OF_A_REFERENCE : EXAMINED_ROWS
  const most = held ? ofOne : size + 1
  const relation = ofGroup(look, {
    columns: sql`txn_id`,
    behind: after?.txnId ?? null,
    most: sql`LIMIT ${most}`,
  })
  return {
    ids: sql`ids AS MATERIALIZED (SELECT ref, txn_id FROM ${relation}),`,
    horizon: sql`(
      SELECT max(txn_id) FROM (
        SELECT min(txn_id) AS txn_id FROM ids GROUP BY ref HAVING count(*) = ${most}
         UNION ALL (SELECT txn_id FROM ids ORDER BY txn_id DESC OFFSET ${EXAMINED_ROWS - 1} LIMIT 1)) ends)`,
    rows: (isWithin) => sql`(SELECT txn_id FROM ids WHERE ${isWithin} ORDER BY txn_id DESC OFFSET 0) named
      JOIN LATERAL (
        SELECT ${sql(TRANSACTION_ROW_COLUMNS)} FROM all_transactions WHERE txn_id = named.txn_id OFFSET 0
      ) walked USING (txn_id) WHERE true`,
  }
}

interface Columns {
  readonly columns: readonly string[]
}

/** `isSmall`: what the narrow filters give is so little that a page may look at all of it. */
async function feed<Row extends PlaceRow>(
  look: Look,
  { after, size, within, columns, isSmall }: Part & Columns & { readonly isSmall: boolean },
): Promise<readonly PageRow<Row>[]> {
  const { sql, query } = look
  const narrow = narrowConditions(look)
  const start = feedStart(after)
  const rest = [
    ...(isSmall ? [] : [...narrow, ...groupConditions(look)]),
    // In the feed's order they are filters like any other.
    ...createdConditions(look),
    ...remainingConditions(look),
  ]
  // The second condition is the one that an index serves.
  const ahead = sql`(entered_xid, txn_id) > (${start.position}::xid8, ${start.txnId}) AND entered_xid >= ${start.position}::xid8`
  // The end of what is settled, unless the walk needs a nearer horizon.
  const found =
    isSmall || !isHeld(query, rest)
      ? sql`SELECT settled AS horizon_xid, '' AS horizon_txn_id FROM snapshot`
      : sql`
        SELECT coalesce(far.entered_xid, settled) AS horizon_xid, coalesce(far.txn_id, '') AS horizon_txn_id
        FROM snapshot LEFT JOIN LATERAL (
          SELECT entered_xid, txn_id FROM transaction_feed WHERE ${ahead} AND entered_xid < settled
          ORDER BY entered_xid, txn_id OFFSET ${EXAMINED_ROWS - 1} LIMIT 1
        ) far ON true`
  const horizon =
    within === undefined
      ? found
      : sql`SELECT ${within.horizon_xid}::xid8 AS horizon_xid, ${within.horizon_txn_id}::text AS horizon_txn_id`
  const isWithin = sql`(entered_xid, txn_id) <= (bound.horizon_xid, bound.horizon_txn_id) AND entered_xid <= bound.horizon_xid`
  // Few rows are read whole and sorted; of many the feed says which come next.
  const source = isSmall
    ? sql`(SELECT * FROM ${walkedTransactions(look)} WHERE ${all(sql, narrow)} OFFSET 0) walked`
    : sql`
        (SELECT entered_xid, txn_id FROM transaction_feed WHERE ${ahead} AND ${isWithin}
          ORDER BY entered_xid, txn_id OFFSET 0) fed
        JOIN LATERAL (
          SELECT ${sql(TRANSACTION_ROW_COLUMNS)} FROM all_transactions WHERE txn_id = fed.txn_id OFFSET 0
        ) walked USING (txn_id)`
  return await takeRows(sql<PageRow<Row>[]>`
    WITH snapshot AS MATERIALIZED (SELECT pg_snapshot_xmin(pg_current_snapshot()) AS settled),
         bound AS MATERIALIZED (${horizon})
    SELECT counting.counted, counting.count_exact, bound.horizon_xid, bound.horizon_txn_id, page.*
    FROM ${countRelation(look)} counting CROSS JOIN bound
    LEFT JOIN LATERAL (
      SELECT ${sql(columns)}, entered_xid FROM ${source}
      WHERE ${ahead} AND ${isWithin} AND ${all(sql, rest)}
      ORDER BY entered_xid, txn_id LIMIT ${size + 1}
    ) page ON true
    ORDER BY page.entered_xid, page.txn_id`)
}

/** As a condition on rows that are found otherwise. */
function groupConditions({ sql, query, vault }: Look): readonly Fragment[] {
  const refs = groupRefsOf(query, vault)
  return refs.length === 0 ? [] : [sql`group_id = ANY(${arrayLiteral('uuid', refs)}::uuid[])`]
}

/** Whether so few rows have this account, group or key that a page may look at all of them. */
async function holdsFew(look: Look): Promise<boolean> {
  const { sql } = look
  const narrow = all(sql, narrowConditions(look))
  const [row] = await sql<{ held: number }[]>`
    SELECT count(*)::integer AS held
    FROM (SELECT FROM ${walkedTransactions(look)} WHERE ${narrow} LIMIT ${EXAMINED_ROWS + 1}) held`
  return row !== undefined && row.held <= EXAMINED_ROWS
}
