/** D25: a payer's value on hold, which its beneficiary captures in parts and never beyond the amount. */
import { beforeEach, describe, expect, test } from 'vitest'
import { stepActor } from '../../../../actors/step-actor.ts'
import { holdAddress, accountAddress } from '../../../../actors/address.ts'
import type { HoldStatus, HoldView } from '../../../../actors/hold/state.ts'
import { formatQuantity, parseQuantity } from '../../../../actors/money.ts'
import type { CreateHoldCommand } from '../../../../actors/account/commands.ts'
import { codeOf, free, World } from '../../../model/mini-clients.ts'
import { FORGED } from '../../../model/mini-ledger.ts'
import { CALLER, SIGNED } from '../../../support/accounts.ts'
import { createHoldCommand, forceReleaseCommand, releaseHoldCommand } from '../../../support/holds.ts'
import { createSeededRandom } from '../../../simulation/kernel/sim-random.ts'

const HOUR_MS = 3_600_000

let ledger: World

beforeEach(() => {
  ledger = new World()
  ledger.open('ann', 'bob', 'eve')
  ledger.fund('ann', '10')
})

function create(fields: Partial<CreateHoldCommand> = {}) {
  return ledger.asked(accountAddress('ann'), createHoldCommand({ expiresAtMs: ledger.nowMs + HOUR_MS, ...fields }))
}

function held(fields: Partial<CreateHoldCommand> = {}): HoldView {
  const answer = create(fields)
  if (answer.kind !== 'hold_created') throw new Error(`Not created: ${JSON.stringify(answer)}`)
  return answer.hold
}

function captureOf(holdId: string, amount: string, { final = false, accountId = 'bob', fromAccountId = 'ann' } = {}) {
  return { accountId, type: 'transfer', amount, capture: { holdId, final, fromAccountId } } as const
}

function failureOf(order: ReturnType<typeof captureOf>): string | undefined {
  return ledger.settled(order).failure?.code
}

function release(holdId: string, accountId = 'bob') {
  return ledger.asked(accountAddress(accountId), releaseHoldCommand(holdId, { accountId }))
}

function statusOf(holdId: string): HoldStatus {
  return ledger.holdOf(holdId).status
}

const RESERVED = { ...free('10'), available: '6' }

describe('a hold', () => {
  test('reserves its amount: the available part falls, the balance does not', () => {
    const hold = held({ metadata: { order: '7' } })
    expect(hold).toMatchObject({
      status: 'active',
      amount: '4',
      captured: '0',
      remaining: '4',
      metadata: { order: '7' },
    })
    expect(ledger.balance('ann')).toEqual(RESERVED)
    expect(ledger.lastEntry('ann')).toMatchObject({
      kind: 'hold_created',
      amount: '4',
      hold_id: hold.holdId,
      to_account_id: 'bob',
      balance_after: '10',
      available_after: '6',
    })
  })

  test('is refused beyond the available part, and reserves nothing', () => {
    held()
    const order = createHoldCommand({ amount: '6.1', expiresAtMs: ledger.nowMs + HOUR_MS })
    const answer = ledger.asked(accountAddress('ann'), order)
    expect(codeOf(answer)).toBe('insufficient_funds')
    expect(ledger.balance('ann')).toEqual(RESERVED)
    ledger.fund('ann', '1')
    expect(ledger.asked(accountAddress('ann'), order).kind).toBe('hold_created')
  })

  test('is created once under one key: a repeat gets the first hold', () => {
    const order = createHoldCommand({ expiresAtMs: ledger.nowMs + HOUR_MS })
    expect(ledger.ask(accountAddress('ann'), order)).toBe('deferred')
    expect(ledger.ask(accountAddress('ann'), order)).toBe('deferred')
    const first = ledger.asked(accountAddress('ann'), order)
    const again = ledger.asked(accountAddress('ann'), { ...order, amount: '1', payloadHash: 'another' })
    expect(again).toMatchObject({ kind: 'hold_created', replayed: true, mismatch: true })
    expect('hold' in again && 'hold' in first && again.hold).toEqual('hold' in first && first.hold)
    expect(ledger.balance('ann')).toEqual(RESERVED)
  })

  test.each([
    ['a forged signature', { signature: FORGED }, 'signature_mismatch'],
    ['an absent beneficiary', { toAccountId: 'nobody' }, 'receiver_not_found'],
    ['an unknown token', { tokenId: 'GOLD' }, 'token_not_found'],
    ['a time in the past', { expiresAtMs: 0 }, 'expired'],
  ] as const)('is refused with %s', (_, fields, code) => {
    expect(codeOf(create(fields))).toBe(code)
    expect(ledger.balance('ann')).toEqual(free('10'))
  })

  test('lasts 90 days at most', () => {
    const days = 86_400_000
    expect(codeOf(create({ expiresAtMs: ledger.nowMs + 90 * days + 10 }))).toBe('expired')
    expect(create({ expiresAtMs: ledger.nowMs + 90 * days }).kind).toBe('hold_created')
  })

  test('cannot be created by a frozen account, and keeps its payer from closing', () => {
    const { holdId } = held()
    expect(codeOf(ledger.change('ann', { status: 'closed' }))).toBe('account_not_empty')
    ledger.change('ann', { status: 'frozen' })
    expect(codeOf(create())).toBe('account_not_active')
    expect(failureOf(captureOf(holdId, '4'))).toBeUndefined()
    expect(ledger.balance('bob')).toEqual(free('4'))
  })
})

describe('a capture', () => {
  test('pays the beneficiary from the hold, and both sides name the hold', () => {
    const { holdId } = held({ metadata: { order: '7' } })
    const captured = ledger.settled(captureOf(holdId, '1.5'))
    expect(captured).toMatchObject({ status: 'completed', type: 'transfer', fromAccountId: 'ann', holdId })
    expect(ledger.lastEntry('bob')).toMatchObject({ hold_id: holdId, from_account_id: 'ann', balance_after: '1.5' })
    expect(ledger.transaction(captured.counterTxnId ?? '')).toMatchObject({
      accountId: 'ann',
      type: 'transfer',
      toAccountId: 'bob',
      holdId,
      counterTxnId: captured.txnId,
      metadata: { order: '7' },
    })
    expect(ledger.lastEntry('ann')).toMatchObject({ hold_id: holdId, balance_after: '8.5', available_after: '6' })
    expect(ledger.holdOf(holdId)).toMatchObject({ status: 'active', captured: '1.5' })
  })

  test('comes in parts up to the amount, which ends the hold', () => {
    const { holdId } = held()
    expect(failureOf(captureOf(holdId, '4.000000000000000001'))).toBe('hold_exceeded')
    expect(failureOf(captureOf(holdId, '3'))).toBeUndefined()
    expect(failureOf(captureOf(holdId, '1.1'))).toBe('hold_exceeded')
    expect(failureOf(captureOf(holdId, '1'))).toBeUndefined()
    expect(statusOf(holdId)).toBe('captured')
    expect(failureOf(captureOf(holdId, '1'))).toBe('hold_not_active')
    expect(ledger.balance('ann')).toEqual(free('6'))
    expect(ledger.balance('bob')).toEqual(free('4'))
  })

  test('that is final releases the rest', () => {
    const { holdId } = held()
    expect(failureOf(captureOf(holdId, '1', { final: true }))).toBeUndefined()
    expect(ledger.holdOf(holdId)).toMatchObject({ status: 'captured', captured: '1', metadata: null, dueAtMs: null })
    expect(ledger.lastEntry('ann')).toMatchObject({ kind: 'hold_released', amount: '3', available_after: '9' })
    expect(ledger.balance('ann')).toEqual(free('9'))
  })

  test('by another account, or with another payer, finds no hold', () => {
    const { holdId } = held()
    expect(failureOf(captureOf(holdId, '1', { accountId: 'eve' }))).toBe('hold_not_found')
    expect(failureOf(captureOf(holdId, '1', { fromAccountId: 'eve' }))).toBe('hold_not_found')
    expect(failureOf(captureOf(holdId.replace(/.$/, 'Z'), '1'))).toBe('hold_not_found')
    expect(ledger.balance('ann')).toEqual(RESERVED)
    expect(ledger.balance('eve')).toEqual(free('0'))
  })

  test('fails for a frozen beneficiary: it is an order of its own', () => {
    const { holdId } = held()
    ledger.change('bob', { status: 'frozen' })
    expect(failureOf(captureOf(holdId, '1'))).toBe('account_frozen')
    expect(ledger.holdOf(holdId).captured).toBe('0')
  })

  test('is refused by a beneficiary that refuses incoming value', () => {
    const { holdId } = held()
    ledger.change('bob', { incoming: 'refuse' })
    expect(failureOf(captureOf(holdId, '1'))).toBe('incoming_refused')
    expect(ledger.holdOf(holdId).captured).toBe('0')
  })

  test('that the hold has accepted completes, although the hold then expires', () => {
    const { holdId } = held()
    const txnId = ledger.submit(captureOf(holdId, '1'))
    expect(ledger.deliverFrom('bob', `hold ${holdId}`)).toBe(true)
    ledger.pass(HOUR_MS)
    ledger.drain()
    expect(ledger.transaction(txnId).status).toBe('completed')
    expect(statusOf(holdId)).toBe('expired')
    expect(ledger.balance('ann')).toEqual(free('9'))
  })

  test('after the time of expiry fails, although the timer is late', () => {
    const { holdId } = held()
    ledger.nowMs += HOUR_MS
    expect(failureOf(captureOf(holdId, '1'))).toBe('hold_expired')
    expect(statusOf(holdId)).toBe('active')
    ledger.pass(0)
    ledger.drain()
    expect(failureOf(captureOf(holdId, '1'))).toBe('hold_expired')
  })
})

describe('the end of a hold', () => {
  test('by its beneficiary releases what remains, once', () => {
    const { holdId } = held()
    ledger.settled(captureOf(holdId, '1'))
    const released = { kind: 'hold_released', hold: { status: 'released', captured: '1', remaining: '0' } }
    expect(release(holdId)).toMatchObject(released)
    expect(release(holdId)).toMatchObject(released)
    expect(ledger.balance('ann')).toEqual(free('9'))
    expect(ledger.lastEntry('ann')).toMatchObject({ kind: 'hold_released', amount: '3' })
    expect(failureOf(captureOf(holdId, '1'))).toBe('hold_not_active')
  })

  test('by another account finds no hold', () => {
    const { holdId } = held()
    expect(codeOf(release(holdId, 'eve'))).toBe('hold_not_found')
    expect(codeOf(release(holdId, 'ann'))).toBe('hold_not_found')
    expect(statusOf(holdId)).toBe('active')
  })

  test('by an administrator needs no signature, and its reason is in the chain of the payer', () => {
    const { holdId } = held()
    const asked = forceReleaseCommand()
    expect(codeOf(ledger.asked(holdAddress(holdId), { ...asked, caller: CALLER }))).toBe('not_allowed')
    expect(ledger.asked(holdAddress(holdId), asked)).toMatchObject({ hold: { status: 'released' } })
    expect(ledger.asked(holdAddress(holdId), asked)).toMatchObject({ hold: { status: 'released' } })
    expect(ledger.lastEntry('ann')).toMatchObject({ kind: 'hold_released', amount: '4', reason: 'disputed' })
    expect(ledger.balance('ann')).toEqual(free('10'))
  })

  test('by time releases what remains, and an early timer does nothing', () => {
    const { holdId } = held()
    const early = { type: 'due', dueAtMs: 0, atMs: ledger.nowMs, salt: '', newTxnId: '' } as const
    const state = ledger.holdOf(holdId)
    expect(stepActor(holdAddress(holdId), state, early, SIGNED)).toEqual({ kind: 'answered', answer: null })
    ledger.pass(HOUR_MS)
    ledger.drain()
    expect(ledger.holdOf(holdId)).toMatchObject({ status: 'expired', dueAtMs: null })
    expect(ledger.lastEntry('ann')).toMatchObject({ kind: 'hold_expired', amount: '4', available_after: '10' })
    expect(release(holdId)).toMatchObject({ hold: { status: 'expired' } })
  })
})

test('captures, releases and expiry in any order never take more than the amount, and lose nothing', () => {
  const random = createSeededRandom(25)
  for (let round = 0; round < 60; round += 1) {
    ledger = new World()
    ledger.open('ann', 'bob')
    ledger.fund('ann', '10')
    const holds = [held({ amount: '5' }), held({ amount: '3', expiresAtMs: ledger.nowMs + 500 })].map(
      ({ holdId }) => holdId,
    )
    const captures: string[] = []
    for (let step = 0; step < 25; step += 1) {
      const holdId = holds[random.integer(2)] ?? ''
      const drawn = random.integer(10)
      if (drawn < 4) captures.push(ledger.submit(captureOf(holdId, `${1 + random.integer(3)}`, { final: drawn === 0 })))
      else if (drawn === 4) ledger.ask(accountAddress('bob'), releaseHoldCommand(holdId))
      else if (drawn === 5) ledger.pass(random.integer(200))
      else ledger.deliver((count) => random.integer(count))
    }
    ledger.pass(HOUR_MS)
    ledger.drain((count) => random.integer(count))
    expect(holds.map((holdId) => statusOf(holdId))).not.toContain('active')
    const paid = captures
      .map((txnId) => ledger.transaction(txnId))
      .filter(({ status }) => status === 'completed')
      .reduce((sum, { amount }) => sum + Number(amount), 0)
    const captured = holds.reduce((sum, holdId) => sum + Number(ledger.holdOf(holdId).captured), 0)
    expect(paid).toBe(captured)
    expect(captures.every((txnId) => ledger.transaction(txnId).status !== 'pending')).toBe(true)
    expect(ledger.balance('ann')).toEqual(free(formatQuantity(parseQuantity(`${10 - paid}`))))
  }
})
