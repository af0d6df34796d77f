/** A logged error has texts of this program only, and none of its dependencies'. */
import { Decimal } from 'decimal.js'
import { expect, test } from 'vitest'
import { invariant } from '../../../../actors/result.ts'
import { LeaseStoreUnavailable } from '../../../../runtime/ports/lease-store.ts'
import { LedgerStoreUnavailable } from '../../../../runtime/ports/ledger-store.ts'
import { reasonOf, LoggableError } from '../../../../runtime/common/reason.ts'

const VALUE = 'alice owes 12.50'

class RowDamaged extends LoggableError {}

function thrownBy(fail: () => unknown): unknown {
  try {
    fail()
  } catch (error) {
    return error
  }
  throw new Error('it did not fail')
}

test('errors of the ledger say what they say', () => {
  const broken = thrownBy(() => invariant(false, 'L4: it was settled before'))
  const ours = [
    broken,
    new LedgerStoreUnavailable('no answer'),
    new LeaseStoreUnavailable('gone'),
    new RowDamaged('row'),
  ]
  expect(ours.map(reasonOf)).toEqual(['L4: it was settled before', 'no answer', 'gone', 'row'])
})

test('all others give their kind and place, and nothing that they quote', () => {
  const others = [() => JSON.parse(VALUE) as unknown, () => BigInt(VALUE), () => new Decimal(VALUE)].map(thrownBy)
  for (const other of [...others, new Error(`no\n    at ${VALUE}`)]) {
    expect(reasonOf(other)).toMatch(/^\w*Error at .*reason\.test\.ts/)
    expect(reasonOf(other)).not.toMatch(/alice|12\.50/)
  }
  expect(reasonOf(VALUE)).toBe('string')
})
