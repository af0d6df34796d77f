/**
 * Balances with 18 + 18 digits stay exact through thousands of random operations (D4). The reference computes with
 * BigInt in units of 10^-18 and shares no code with the ledger.
 */
import { beforeEach, describe, expect, test } from 'vitest'
import { World } from '../../../model/mini-clients.ts'
import { createSeededRandom, type SeededRandom } from '../../../simulation/kernel/sim-random.ts'

const OPERATIONS = 6_000
const DIGITS = 18
const LARGEST = 10n ** 36n - 1n
const NAMES = ['ann', 'bob', 'cid'] as const

let ledger: World

beforeEach(() => {
  ledger = new World({ counted: false })
  ledger.open(...NAMES)
})

/** Of any size: as many digits before and behind the point as there may be, and as few. */
function amountOf(random: SeededRandom): bigint {
  const digits = random.integer(2 * DIGITS) + 1
  let units = 0n
  for (let digit = 0; digit < digits; digit += 1) units = units * 10n + BigInt(random.integer(10))
  return units === 0n ? 1n : units
}

/** In minimal form. */
function decimalOf(units: bigint): string {
  const padded = units.toString().padStart(DIGITS + 1, '0')
  const fraction = padded.slice(-DIGITS).replace(/0+$/, '')
  return padded.slice(0, -DIGITS) + (fraction === '' ? '' : `.${fraction}`)
}

describe('D4: amounts of 18 + 18 digits', () => {
  test(`${OPERATIONS} random credits, debits and transfers leave exactly what BigInt says, and what does not fit is refused`, () => {
    const random = createSeededRandom(20_261_122)
    const expected = new Map<string, bigint>(NAMES.map((name) => [name, 0n]))
    const ends = new Map<string, number>()
    for (let count = 0; count < OPERATIONS; count += 1) {
      const units = amountOf(random)
      const amount = decimalOf(units)
      const from = random.pick(NAMES)
      const to = random.pick(NAMES)
      const type = random.pick(['credit', 'debit', 'transfer'] as const)
      if (type === 'transfer' && from === to) continue
      const answer = ledger.submission({ accountId: from, type, amount, toAccountId: type === 'transfer' ? to : null })
      if (answer.kind !== 'accepted') throw new Error(JSON.stringify(answer))
      ledger.drain()
      const { status, failure } = ledger.transaction(answer.receipt.txnId)
      const end = apply(expected, { type, from, to, units })
      expect([amount, failure?.code ?? status]).toEqual([amount, end])
      ends.set(`${type} ${end}`, (ends.get(`${type} ${end}`) ?? 0) + 1)
      for (const name of [from, to]) expect(ledger.balance(name).balance).toBe(decimalOf(expected.get(name) ?? 0n))
    }
    for (const name of NAMES) {
      expect(ledger.balance(name)).toEqual({
        balance: decimalOf(expected.get(name) ?? 0n),
        available: decimalOf(expected.get(name) ?? 0n),
        incoming: '0',
      })
    }
    for (const tried of ['credit completed', 'credit balance_limit', 'debit completed', 'debit insufficient_funds']) {
      expect([tried, (ends.get(tried) ?? 0) > 20]).toEqual([tried, true])
    }
    expect(ends.get('transfer completed') ?? 0).toBeGreaterThan(100)
  })

  test('the smallest and the largest amount there are, added and taken away', () => {
    const largest = decimalOf(LARGEST)
    ledger.fund('ann', largest)
    expect(ledger.submission({ accountId: 'ann', type: 'credit', amount: decimalOf(1n) })).toMatchObject({
      kind: 'accepted',
    })
    expect(ledger.balance('ann').balance).toBe(largest)
    ledger.submission({ accountId: 'ann', type: 'debit', amount: decimalOf(1n) })
    expect(ledger.balance('ann').balance).toBe(decimalOf(LARGEST - 1n))
    ledger.submission({ accountId: 'ann', type: 'debit', amount: decimalOf(LARGEST - 1n) })
    expect(ledger.balance('ann').balance).toBe('0')
    expect(ledger.change('ann', { status: 'closed' })).toMatchObject({ kind: 'status_changed' })
  })
})

interface Operation {
  readonly type: 'credit' | 'debit' | 'transfer'
  readonly from: string
  readonly to: string
  readonly units: bigint
}

/** How it ends, and what it leaves. */
function apply(balances: Map<string, bigint>, { type, from, to, units }: Operation): string {
  const held = balances.get(from) ?? 0n
  if (type === 'credit') {
    if (held + units > LARGEST) return 'balance_limit'
    balances.set(from, held + units)
    return 'completed'
  }
  if (held < units) return 'insufficient_funds'
  if (type === 'transfer') {
    const there = balances.get(to) ?? 0n
    if (there + units > LARGEST) return 'balance_limit'
    balances.set(to, there + units)
  }
  balances.set(from, held - units)
  return 'completed'
}
