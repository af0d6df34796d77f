/** The context of reads, rows with the keys that open them, and pages of lists. */
import type { ActorAddress } from '../../../actors/address.ts'
import type { ListCount } from '../../../runtime/ports/ledger-reads.ts'
import type { KeyName } from '../../vault/key-name.ts'
import type { RowVault } from '../../vault/row-vault.ts'
import type { Sql } from '../connection/connection.ts'
import { prepared } from '../connection/prepared.ts'
import type { QueryPool } from '../connection/query-pool.ts'
import { fetchKeys } from '../rows/opened-rows.ts'
import type { AccountPlace } from './account-reads.ts'
import type { FindNames } from './erased-names.ts'

export interface Reading {
  readonly pool: QueryPool
  readonly ledgerId: string
  readonly vault: RowVault
  /** The shard that an actor's key hashes to. */
  readonly homeOf: (actor: ActorAddress) => number
  /** undefined: no account can have this ID. */
  readonly placeOf: (accountId: string) => AccountPlace | undefined
  readonly names: FindNames
}

/** `ahead`: keys that are known to be needed before there are rows; they are fetched beside them. */
export function readRows<Row>(
  { pool, vault }: Reading,
  select: (sql: Sql) => Promise<readonly Row[]>,
  keyOf: (row: Row) => KeyName,
  ahead: readonly KeyName[] = [],
): Promise<readonly Row[]> {
  return pool.run(async (sql) => {
    const [rows] = await Promise.all([select(sql), fetchKeys(sql, ahead, vault)])
    // Also of a row that was committed between the two look-ups.
    await fetchKeys(sql, rows.map(keyOf), vault)
    return rows
  })
}

export interface PageQuery<Row, Item, Cursor> {
  /** Gives one row at least if the list exists; one with nulls for an empty page. Its last parameter is the limit. */
  readonly text: string
  readonly parameters: readonly (string | number)[]
  readonly limit: number
  readonly keyOf: (row: Row) => KeyName
  readonly ahead?: readonly KeyName[]
  readonly open: (row: Row) => Item
  readonly cursorOf: (item: Item) => Cursor
}

interface Page<Item, Cursor> {
  readonly items: readonly Item[]
  /** Of the last item; null on the last page. */
  readonly next: Cursor | null
  /** Of statements with `countingFirst`. */
  readonly count: ListCount | null
}

/** `walked`: the number of rows of a page that may end before its limit. */
type PageRow<Row> = (Row | { readonly shard_id: null }) & Partial<Counted> & { readonly walked?: string | null }

/** undefined: there is no such list. Throws UnreadableRow. */
export async function readPage<Row extends { readonly shard_id: number }, Item, Cursor>(
  reading: Reading,
  { text, parameters, limit, keyOf, ahead, open, cursorOf }: PageQuery<Row, Item, Cursor>,
): Promise<Page<Item, Cursor> | undefined> {
  let first: PageRow<Row> | undefined
  const select = async (sql: Sql): Promise<readonly Row[]> => {
    const rows = await prepared<PageRow<Row>>(sql, text, [...parameters, limit + 1])
    first = rows[0]
    return rows.filter((row): row is PageRow<Row> & Row => row.shard_id !== null)
  }
  const found = await readRows(reading, select, keyOf, ahead)
  if (first === undefined) return undefined
  const items = found.slice(0, limit).map(open)
  const last = items.at(-1)
  const hasMore = Number(first.walked ?? found.length) > items.length
  return { items, next: hasMore && last !== undefined ? cursorOf(last) : null, count: countOf(first) }
}

/** A page's rows, as text, go up to here and one row further. */
export const PAGE_BYTES = 4 * 1024 * 1024

/** Of the rows walked those that a page has room for, with how many were walked. `walk` is in the order of `id`. */
export function withRoom(walk: string, id: string, text: string): string {
  return `
    SELECT sized.*
      FROM (SELECT walk.*, count(*) OVER () AS walked,
                   sum(octet_length(${text})) OVER (ORDER BY ${id} ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS bytes
              FROM (${walk}) walk) sized
     WHERE coalesce(sized.bytes, 0) < ${PAGE_BYTES}`
}

/** Lists without a counter are counted up to this number (D16); beyond, the count is a lower bound. */
export const COUNT_LIMIT = 10_000

/**
 * A relation of one row, `counting`: `counted` is the number of rows of `walked`, a SELECT, up to one more than the bound;
 * null for a page that is not the first. `after`: the expression that is '' for the first.
 */
export function countingFirst(walked: string, after: string): string {
  return `(
    SELECT CASE WHEN ${after} = '' THEN (SELECT count(*) FROM (${walked} LIMIT ${COUNT_LIMIT + 1}) walked) END AS counted
  ) counting`
}

interface Counted {
  readonly counted: string | null
}

function countOf({ counted = null }: Partial<Counted>): ListCount | null {
  if (counted === null) return null
  return { total: Math.min(Number(counted), COUNT_LIMIT), exact: Number(counted) <= COUNT_LIMIT }
}

/** The years that PostgreSQL and ISO 8601 write alike. */
const LAST_INSTANT_MS = Date.UTC(9999, 11, 31, 23, 59, 59, 999)

/** Rows have whole milliseconds, so rounding up keeps an inclusive lower and an exclusive upper bound exact. */
export function instantOf(timeMs: number): string {
  return new Date(Math.min(Math.max(Math.ceil(timeMs), 0), LAST_INSTANT_MS)).toISOString()
}
