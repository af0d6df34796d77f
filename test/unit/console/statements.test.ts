/** The statement of a balance: its period, and the end of the part that is loaded. */
import { describe, expect, test } from 'vitest'
import type { Movement, Statement } from '../../../api/client/index.ts'
import { statementEnd } from '../../../api/console/pages/account/statement-end.ts'
import { periodQuery } from '../../../api/console/pages/account/statement-period.ts'
import { exampleOf } from './signed-receipts.ts'

const example = exampleOf<Statement>('getStatement', 'bob')

function pageOf(timestamps: readonly string[], closing: string, isLast: boolean): Statement {
  const movements = timestamps.map((timestamp): Movement => ({
    sequence: 1,
    txn_id: null,
    type: 'import',
    amount: '+1',
    balance_after: closing,
    timestamp,
  }))
  return { ...example, to: '2026-11-29T12:00:00.000Z', movements, closing, last_page: isLast }
}

describe('the end of a statement', () => {
  test('is that of its period if all pages are loaded', () => {
    expect(statementEnd([pageOf(['2026-11-01T08:00:00Z'], '3', true)])).toEqual({
      closing: '3',
      time: '2026-11-29T12:00:00.000Z',
      isWhole: true,
    })
  })

  test('is the last loaded movement if later pages are missing', () => {
    const pages = [pageOf(['2026-11-01T08:00:00Z', '2026-11-02T08:00:00Z'], '5', false), pageOf([], '5', false)]
    expect(statementEnd(pages)).toEqual({ closing: '5', time: '2026-11-02T08:00:00Z', isWhole: false })
    expect(statementEnd([])).toBeUndefined()
  })
})

test('the period of a statement has minutes in UTC', () => {
  expect(periodQuery({ tokenId: 'GOLD', from: '2026-11-29T09:18', to: '2026-11-29T09:19:30' })).toEqual({
    token_id: 'GOLD',
    from: '2026-11-29T09:18:00.000Z',
    to: '2026-11-29T09:19:30.000Z',
  })
  expect(periodQuery({ tokenId: 'GOLD', from: '', to: '' })).toEqual({ token_id: 'GOLD' })
})
