import type { Transaction } from '../../../client/index.ts'

/** The filters of the list, as texts of the address. Empty: not filtered. */
export const FILTER_NAMES = [
  'account_id',
  'type',
  'status',
  'token_id',
  'group_id',
  'amount_min',
  'amount_max',
  'date_from',
  'date_to',
] as const
export type FilterName = (typeof FILTER_NAMES)[number]
export type Filter = Readonly<Record<FilterName, string>>

export function filterIn(query: URLSearchParams): Filter {
  return Object.fromEntries(FILTER_NAMES.map((name) => [name, query.get(name) ?? ''])) as Filter
}

/** The query of `listTransactions`. Dates are whole days in UTC, and `date_to` is included. */
export function queryOf(filter: Filter): Readonly<Record<string, string>> {
  const query = FILTER_NAMES.flatMap((name): readonly (readonly [string, string])[] => {
    const value = filter[name].trim()
    if (value === '') return []
    if (name === 'date_from') return [[name, `${value}T00:00:00Z`]]
    if (name === 'date_to') return [[name, dayAfter(value)]]
    return [[name, value]]
  })
  return Object.fromEntries(query)
}

function dayAfter(day: string): string {
  const startMs = Date.parse(`${day}T00:00:00Z`)
  return Number.isNaN(startMs) ? day : new Date(startMs + 86_400_000).toISOString()
}

/** Whether a new transaction belongs to the list. Amounts and dates are left to the ledger's own list. */
export function fitsFilter(transaction: Transaction, filter: Filter): boolean {
  const { account_id, type, status, token_id = '', group_id = '' } = transaction
  const fields: Readonly<Partial<Record<FilterName, string>>> = { account_id, type, status, token_id, group_id }
  return Object.entries(fields).every(([name, value]) => {
    const wanted = filter[name as FilterName].trim()
    return wanted === '' || wanted === value
  })
}
