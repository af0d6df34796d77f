/** The counts and indexes of an account's collections equal those of a full scan. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { Balances, isSlot } from '../../../../actors/account/balances.ts'
import { Holds } from '../../../../actors/account/holds.ts'
import { type Balance, type Hold, holdId, lacksSignature, type LegHold } from '../../../../actors/account/state.ts'
import { submitted } from '../../../../actors/account/record.ts'
import { Turn } from '../../../../actors/account/turn.ts'
import { afterSteps, KEY, registerCommand, submitCommand } from '../../../support/accounts.ts'
import { legHold } from '../../../support/postgres/ledger-rows-values.ts'

const NAMES = ['a', 'b', 'c', 'Aa', 'BB'] as const
const names = fc.constantFrom(...NAMES)

const quantities = fc.bigInt({ min: 0n, max: 2n })
const balances: fc.Arbitrary<Balance> = fc.record({
  balance: quantities,
  reserved: quantities,
  incoming: quantities,
  room: quantities,
  updatedAtMs: fc.nat({ max: 1 }),
})

const TRANSACTION = submitted(new Turn(afterSteps(registerCommand()), submitCommand()), submitCommand())

const legs: fc.Arbitrary<Hold> = fc
  .record({
    groupId: names,
    leg: fc.nat({ max: 2 }),
    clientId: names,
    role: fc.constantFrom<LegHold['role']>('own', 'receiver'),
    state: fc.constantFrom<LegHold['state']>('expected', 'declined', 'completed', 'failed'),
  })
  .map(legHold)
const pending: fc.Arbitrary<Hold> = fc.record({ txnId: names, compensates: fc.option(names) }).map((fields) => ({
  kind: 'pending',
  transaction: { ...TRANSACTION, ...fields },
  reserves: true,
  room: null,
  reportsOn: null,
}))
const mints: fc.Arbitrary<Hold> = fc
  .record({ txnId: names, idempotencyKey: names })
  .map(({ txnId, idempotencyKey }) => ({
    kind: 'mint',
    idempotencyKey,
    transaction: { ...TRANSACTION, txnId },
    acceptedUnder: KEY,
  }))
const issues: fc.Arbitrary<Hold> = names.map((tokenId) => ({ kind: 'issue', tokenId, totalSupply: '1' }))
const holds = fc.oneof(legs, legs, pending, mints, issues)

function sorted(ids: Iterable<string>): readonly string[] {
  return [...ids].sort()
}

test('balances equal those of a map, and slots are counted', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(names, balances), { maxLength: 30 }), (changes) => {
      const plain = new Map<string, Balance>()
      let kept = Balances.NONE
      for (const [tokenId, balance] of changes) {
        const before = [...kept]
        const next = kept.with(tokenId, balance)
        expect([...kept]).toEqual(before)
        plain.set(tokenId, balance)
        kept = next
      }
      expect(new Map(kept)).toEqual(plain)
      expect([kept.size, kept.slots]).toEqual([plain.size, [...plain.values()].filter(isSlot).length])
      expect(Balances.of(plain).slots).toBe(kept.slots)
      for (const name of NAMES) expect([kept.get(name), kept.has(name)]).toEqual([plain.get(name), plain.has(name)])
    }),
  )
})

test('holds and all of their queries equal those of a map', () => {
  const changes = fc.array(fc.record({ hold: holds, goes: fc.boolean() }), { maxLength: 60 })
  fc.assert(
    fc.property(changes, (steps) => {
      const plain = new Map<string, Hold>()
      let kept = Holds.NONE
      for (const { hold, goes } of steps) {
        const id = holdId(hold)
        const [before, next] = [[...kept], goes ? kept.without(id) : kept.with(id, hold)]
        expect([...kept]).toEqual(before)
        if (goes) plain.delete(id)
        else plain.set(id, hold)
        kept = next
      }
      const all = [...plain.values()]
      expect(new Map(kept)).toEqual(plain)
      expect([kept.size, kept.pending, kept.mints]).toEqual([
        plain.size,
        all.filter((hold) => !lacksSignature(hold)).length,
        all.filter(({ kind }) => kind === 'mint').length,
      ])
      for (const name of NAMES) {
        const ofGroup = all.filter((hold) => hold.kind === 'leg' && hold.groupId === name)
        const ofClient = all.filter((hold) => hold.kind === 'leg' && hold.clientId === name && lacksSignature(hold))
        const ofMint = all.filter((hold) => hold.kind === 'mint' && hold.transaction.txnId === name)
        const undoing = all.filter((hold) => hold.kind === 'pending' && hold.transaction.compensates === name)
        expect(sorted(kept.legsOf(name).map(holdId))).toEqual(sorted(ofGroup.map(holdId)))
        expect(kept.unsignedOf(name)).toBe(ofClient.length)
        expect([kept.mintOf(name)].filter((hold) => hold !== undefined)).toHaveLength(Math.min(1, ofMint.length))
        expect(kept.compensates(name)).toBe(undoing.length > 0)
      }
    }),
  )
})
