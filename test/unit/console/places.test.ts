/** Addresses of the console, and the filters that they hold. */
import { describe, expect, test } from 'vitest'
import { filterIn, fitsFilter, queryOf } from '../../../api/console/pages/transaction/filter.ts'
import { hrefOf, parsePlace } from '../../../api/console/session/place.ts'
import type { Transaction } from '../../../api/client/index.ts'

describe('a place', () => {
  test('is read back from its link, whatever characters its parts have', () => {
    const path = ['accounts', 'a/b?c#d%e', 'ä 😀']
    const { path: read, query } = parsePlace(hrefOf(path, { type: 'credit & debit', status: '' }))
    expect(read).toEqual(path)
    expect(Object.fromEntries(query)).toEqual({ type: 'credit & debit' })
  })

  test('is the overview without a hash, and keeps a segment that is no percent-encoding', () => {
    expect(parsePlace('').path).toEqual([])
    expect(parsePlace('#/').path).toEqual([])
    expect(parsePlace('#/accounts/100%').path).toEqual(['accounts', '100%'])
  })
})

describe('a filter', () => {
  test('asks for whole days in UTC, the last one included, and leaves out empty fields', () => {
    const filter = filterIn(
      new URLSearchParams({ account_id: ' alice ', date_from: '2026-11-01', date_to: '2026-11-30' }),
    )
    expect(queryOf(filter)).toEqual({
      account_id: 'alice',
      date_from: '2026-11-01T00:00:00Z',
      date_to: '2026-12-01T00:00:00.000Z',
    })
    expect(queryOf({ ...filter, date_to: 'soon' })).toMatchObject({ date_to: 'soon' })
  })

  test('fits a new transaction only if each of its fields does', () => {
    const transaction = { account_id: 'alice', type: 'credit', status: 'completed', token_id: 'GOLD' } as Transaction
    const fits = (fields: Record<string, string>): boolean =>
      fitsFilter(transaction, filterIn(new URLSearchParams(fields)))
    expect(fits({})).toBe(true)
    expect(fits({ account_id: 'alice', token_id: 'GOLD' })).toBe(true)
    expect(fits({ account_id: 'alice', token_id: 'SILVER' })).toBe(false)
    expect(fits({ group_id: 'a group' })).toBe(false)
  })
})
