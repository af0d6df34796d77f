/**
 * Pages of lists of which a client may see only some rows (D16, D17): the rows are read in the list's own order, and those
 * outside the client's scope are left out.
 *   W1. A request reads at most so many rows: a page may hold fewer than asked for, even none, and still say where to go on.
 *   W2. A page goes on exactly behind its last row. Where more was read than fits, the page is what a shorter read gives:
 *       only a list can say where it goes on.
 *   W3. The count is of what is shown. It is exact when the list ended within the same bound, else it is a lower bound.
 */
import type { PageCount } from '../http/page-token.ts'

export interface RowsRead<Row, Cursor> {
  readonly rows: readonly Row[]
  /** Where it goes on; null: nothing follows. */
  readonly next: Cursor | null
  /** Whether the list has no more rows at the moment; only for lists whose `next` is never null. */
  readonly ended?: boolean
}

export interface Scan<Row, Cursor> {
  readonly read: (after: Cursor | null, limit: number) => Promise<RowsRead<Row, Cursor>>
  /** Of these rows those that the client may see, in the same order. */
  readonly shown: (rows: readonly Row[]) => readonly Row[] | Promise<readonly Row[]>
  /** Rows that one request reads. */
  readonly bound?: number
}

export interface ScanRequest<Cursor> {
  readonly after: Cursor | null
  readonly limit: number
  readonly counted: boolean
}

export interface ScannedPage<Row, Cursor> {
  readonly rows: readonly Row[]
  readonly next: Cursor | null
  /** null: it was not asked for. */
  readonly count: PageCount | null
}

export const SCANNED_ROWS = 5_000
const ROWS_AT_ONCE = 1_000

export async function scanPage<Row, Cursor>(
  scan: Scan<Row, Cursor>,
  { after, limit, counted }: ScanRequest<Cursor>,
): Promise<ScannedPage<Row, Cursor>> {
  const bound = scan.bound ?? SCANNED_ROWS
  const page: Row[] = []
  let place: Place<Cursor> = { next: after, read: 0, ended: false, stopped: false }
  for (let asked = Math.min(limit, bound); canGoOn(place, bound) && page.length < limit; asked = ROWS_AT_ONCE) {
    const part = await readFitting(scan, place, Math.min(asked, bound - place.read), limit - page.length)
    page.push(...part.rows)
    place = part.place
  }
  const { next } = place
  return { rows: page, next, count: counted ? await countFrom(scan, place, page.length, bound) : null }
}

interface Place<Cursor> {
  readonly next: Cursor | null
  /** Rows read so far. */
  readonly read: number
  readonly ended: boolean
  /** The list itself read as much as it does at once. */
  readonly stopped: boolean
}

function canGoOn({ read, ended, stopped }: Place<unknown>, bound: number): boolean {
  return !ended && !stopped && read < bound
}

/** As many rows as `room` has place for what is shown of them (W2). */
async function readFitting<Row, Cursor>(
  scan: Scan<Row, Cursor>,
  from: Place<Cursor>,
  asked: number,
  room: number,
): Promise<{ readonly rows: readonly Row[]; readonly place: Place<Cursor> }> {
  for (let limit = asked; ;) {
    const read = await scan.read(from.next, limit)
    const shown = await scan.shown(read.rows)
    const last = shown[room - 1]
    if (shown.length <= room || last === undefined) return { rows: shown, place: placeAfter(from, read, limit) }
    limit = read.rows.indexOf(last) + 1
  }
}

function placeAfter<Cursor>(
  from: Place<Cursor>,
  { rows, next, ended = next === null }: RowsRead<unknown, Cursor>,
  asked: number,
): Place<Cursor> {
  return { next, read: from.read + rows.length, ended, stopped: rows.length < asked }
}

async function countFrom<Row, Cursor>(
  scan: Scan<Row, Cursor>,
  from: Place<Cursor>,
  shown: number,
  bound: number,
): Promise<PageCount> {
  let total = shown
  let place = from
  while (canGoOn(place, bound)) {
    const asked = Math.min(ROWS_AT_ONCE, bound - place.read)
    const read = await scan.read(place.next, asked)
    total += (await scan.shown(read.rows)).length
    place = placeAfter(place, read, asked)
  }
  return { total, exact: place.ended }
}
