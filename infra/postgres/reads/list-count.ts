/** How many rows a list has (D16): counted with its first page, up to a bound; the pages after it carry the count along. */
import type { ListCount } from '../../../runtime/ports/ledger-reads.ts'

/** Lists without a counter are counted up to this number; beyond, the count is a lower bound. */
export const COUNT_LIMIT = 10_000

/**
 * A relation of one row, `counting`: `counted` is how many rows `walked`, a SELECT, has, up to one more than the bound;
 * null of a page that is not the first. `after`: the expression that is '' for the first.
 */
export function countingFirst(walked: string, after: string): string {
  return `(
    SELECT CASE WHEN ${after} = '' THEN (SELECT count(*) FROM (${walked} LIMIT ${COUNT_LIMIT + 1}) walked) END AS counted
  ) counting`
}

/** What `countingFirst` gave, in every row. */
export interface Counted {
  readonly counted: string | null
}

export function countOf(row: Counted | undefined): ListCount | null {
  const counted = row?.counted ?? null
  if (counted === null) return null
  return { total: Math.min(Number(counted), COUNT_LIMIT), exact: Number(counted) <= COUNT_LIMIT }
}
