/** Goal: what was opened is known for a while, and memory has an end (K1). */
import { expect, test } from 'vitest'
import { createKnownAmounts } from '../../../infra/postgres/rows/known-amounts.ts'

const ONE = { ref: 'ann', amount: '1.5' }

test('an amount is known until the second turn after it came, whether it is asked for or not', () => {
  const amounts = createKnownAmounts()
  amounts.put('txn_1', ONE)
  expect(amounts.get('txn_1')).toEqual(ONE)
  amounts.turn()
  expect(amounts.get('txn_1')).toEqual(ONE)
  amounts.turn()
  expect(amounts.get('txn_1')).toBeUndefined()
})

test('beyond the bound the first are forgotten', () => {
  const amounts = createKnownAmounts(10)
  const ids = Array.from({ length: 25 }, (_, number) => `txn_${number}`)
  for (const id of ids) amounts.put(id, ONE)
  expect(ids.filter((id) => amounts.get(id) !== undefined)).toEqual(ids.slice(10))
})
