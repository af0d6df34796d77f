/** An attacker with all keys changes holds in a copy of the database. The audit finds each change. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { HoldState } from '../../../actors/hold/state.ts'
import { PartiesOfHolds } from '../../support/audited-holds.ts'
import {
  type Case,
  createTampered,
  foundBy,
  run,
  type Tamper,
  type Tampered,
} from '../../support/postgres/tampering.ts'
import { changeActors } from '../../support/postgres/tampering-with-keys.ts'

let tampered: Tampered
let holdId: string
let otherId: string

beforeAll(async () => {
  tampered = await createTampered(async (_, parties, { alice, bob }) => {
    const holding = new PartiesOfHolds(parties, alice, bob)
    const released = await holding.held('3')
    await holding.release(released.holdId)
    await holding.held('1', Date.now() + 200)
    await parties.atRest()
    ;({ holdId } = await holding.held('5'))
    ;({ holdId: otherId } = await holding.held('4'))
    await holding.capture(holdId, '2')
    await parties.delivered()
  })
})
afterAll(() => tampered?.close())

function onHold(changes: Partial<HoldState>): Tamper {
  return changeActors('hold', (hold) => (hold.id === holdId ? { ...hold, ...changes } : undefined))
}

/** The same sum for the asset. */
const SHIFTED = changeActors('hold', (hold) => {
  if (hold.id === holdId) return { ...hold, captured: '1' }
  return hold.id === otherId ? { ...hold, captured: '1' } : undefined
})

test('an audit of undamaged holds has no findings', async () => {
  expect(await foundBy(tampered, () => Promise.resolve())).toEqual([])
})

const CASES: readonly Case[] = [
  ['a capture that the hold forgets', ['value_is_conserved'], onHold({ captured: '0' })],
  ['another beneficiary', ['value_is_conserved'], onHold({ toAccountId: 'carol@audit' })],
  ['a capture of another hold', ['value_is_conserved'], SHIFTED],
  ['more captures than its amount', ['value_is_conserved'], onHold({ captured: '6' })],
  [
    'an end that its payer does not know of',
    ['value_is_conserved'],
    onHold({ status: 'released', dueAtMs: null, endedAtMs: 1_790_000_000_000 }),
  ],
  [
    'the deletion of a hold',
    ['value_is_conserved'],
    run("DELETE FROM actors WHERE kind = 'hold' AND status = 'active'"),
  ],
  [
    'another status in its column',
    ['value_is_conserved'],
    run("UPDATE actors SET status = 'expired' WHERE kind = 'hold'"),
  ],
]

test.for(CASES)('D25: an audit finds %s', async ([, found, tamper]) => {
  expect(await foundBy(tampered, tamper)).toEqual(found)
})
