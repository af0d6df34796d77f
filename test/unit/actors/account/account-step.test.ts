/** A step checks its conditions in the order of its module's header. A refusal changes no state, and A1-A4 hold. */
import { describe, expect, test } from 'vitest'
import { type EarlierUse, originalAnswer } from '../../../../actors/account/outcome.ts'
import type { Evidence } from '../../../../actors/account/evidence.ts'
import type { AccountState } from '../../../../actors/account/state.ts'
import type { StepResult } from '../../../../actors/define-actor.ts'
import type { Transaction } from '../../../../actors/account/transaction.ts'
import { REFUSAL_CODES } from '../../../../actors/refusal.ts'
import {
  afterSteps,
  CALLER,
  KEY,
  OTHER_KEY,
  refusalOf,
  registerCommand,
  rotateCommand,
  SIGNED,
  START_MS,
  statusCommand,
  stepAccount,
  steppedOf,
  submitCommand,
} from '../../../support/accounts.ts'

const GROUP = '5f0c2c1e-7d35-4b4e-9d2a-0f4f6f1d2a33'

function transactionOf(result: StepResult<AccountState>): Transaction {
  const effect = steppedOf(result).effects.find(({ kind }) => kind === 'transaction_entered')
  if (effect?.kind !== 'transaction_entered') throw new Error('No transaction was entered.')
  return effect.transaction
}

/** The use of a key that a step has recorded. */
function recordedBy(result: StepResult<AccountState>) {
  const recorded = steppedOf(result).effects.find(({ kind }) => kind === 'operation_recorded')
  if (recorded?.kind !== 'operation_recorded') throw new Error('Not recorded.')
  const { operation } = recorded
  const earlier: EarlierUse = { payloadHash: operation.payloadHash, key: KEY, answer: originalAnswer(operation) }
  return { operation, earlier }
}

describe('a frozen account', () => {
  const FROZEN = afterSteps(registerCommand(), statusCommand({ status: 'frozen' }))

  test('closes only when it is empty', () => {
    expect(steppedOf(stepAccount(FROZEN, statusCommand({ status: 'closed' }))).state.status).toBe('closed')
    const holding = steppedOf(stepAccount(FROZEN, submitCommand({ amount: '1' }))).state
    expect(refusalOf(stepAccount(holding, statusCommand({ status: 'closed' })))).toBe('account_not_empty')
  })

  test('is not written when it is frozen again', () => {
    expect(stepAccount(FROZEN, statusCommand({ status: 'frozen' }))).toMatchObject({
      kind: 'answered',
      answer: { kind: 'status_changed', account: { status: 'frozen' } },
    })
  })
})

test('a closed account replays its registration, and shows itself to a client that registers the same key again', () => {
  const keyed = registerCommand({ registrationKey: 'k' })
  const registered = steppedOf(stepAccount(null, keyed))
  const { earlier } = recordedBy(registered)
  const closed = steppedOf(stepAccount(registered.state, statusCommand({ status: 'closed' }))).state
  const again = { ...keyed, atMs: START_MS + 1 }
  const shown = { kind: 'registered', account: { status: 'closed' }, created: false }
  expect(stepAccount(closed, again)).toMatchObject({ kind: 'answered', answer: shown })
  expect(stepAccount(closed, { ...again, key: OTHER_KEY }, { ...SIGNED, earlier })).toMatchObject({
    answer: { kind: 'registered', account: { status: 'active' }, replayed: true, mismatch: true },
  })
})

describe('a change of status under a header key', () => {
  const FREEZE = statusCommand({ status: 'frozen', registrationKey: 'k' })

  function frozen() {
    const result = steppedOf(stepAccount(afterSteps(registerCommand()), FREEZE, SIGNED))
    return { result, ...recordedBy(result) }
  }

  test('is recorded with its reply, and a replay returns that reply, also after later changes', () => {
    const { result, operation, earlier } = frozen()
    expect(operation).toMatchObject({ operation: 'status_change', idempotencyKey: 'client-1 k' })
    const since = steppedOf(stepAccount(result.state, statusCommand({ status: 'active' }), SIGNED))
    for (const again of [FREEZE, statusCommand({ status: 'closed', registrationKey: 'k' })]) {
      expect(stepAccount(since.state, again, { ...SIGNED, earlier })).toEqual({
        kind: 'answered',
        answer: result.answer,
      })
    }
  })

  test('is not recorded without a key', () => {
    const result = steppedOf(stepAccount(afterSteps(registerCommand()), statusCommand({ status: 'frozen' }), SIGNED))
    expect(result.effects.map(({ kind }) => kind)).not.toContain('operation_recorded')
  })
})

describe('registration', () => {
  test('the same key again is the account as it is; another key is a conflict', () => {
    const snapshot = afterSteps(registerCommand())
    const again = stepAccount(snapshot, registerCommand({ atMs: START_MS + 5 }), SIGNED)
    expect(again).toMatchObject({ kind: 'answered', answer: { kind: 'registered', created: false } })
    expect(refusalOf(stepAccount(snapshot, registerCommand({ key: OTHER_KEY }), SIGNED))).toBe('public_key_conflict')
  })

  test('a replay of a client’s Idempotency-Key gets the first reply', () => {
    const first = steppedOf(stepAccount(null, registerCommand({ registrationKey: 'k' }), SIGNED))
    const { answer: registered } = first
    if (registered === null || registered === 'deferred') throw new Error('Not answered.')
    const { operation, earlier } = recordedBy(first)
    expect(operation).toMatchObject({ operation: 'registration', idempotencyKey: 'client-1 k' })
    const rotated = steppedOf(stepAccount(first.state, rotateCommand(), SIGNED))
    const again = registerCommand({ registrationKey: 'k', atMs: START_MS + 5 })
    expect(stepAccount(rotated.state, again, { ...SIGNED, earlier })).toEqual({
      kind: 'answered',
      answer: { ...registered, replayed: true, mismatch: false },
    })
    expect(stepAccount(rotated.state, { ...again, key: OTHER_KEY }, { ...SIGNED, earlier })).toEqual({
      kind: 'answered',
      answer: { ...registered, replayed: true, mismatch: true },
    })
  })

  test('another payload of the same millisecond is a replay, of a registration and of a rotation', () => {
    const keyed = registerCommand({ registrationKey: 'k' })
    const first = steppedOf(stepAccount(null, keyed))
    const rotation = rotateCommand()
    const second = steppedOf(stepAccount(first.state, rotation))
    for (const [earlier, command] of [
      [recordedBy(first).earlier, { ...keyed, key: OTHER_KEY }],
      [recordedBy(second).earlier, { ...rotation, payload: '{}', payloadHash: 'another' }],
    ] as const) {
      expect(stepAccount(second.state, command, { ...SIGNED, earlier })).toMatchObject({
        answer: { replayed: true, mismatch: true },
      })
    }
  })

  test('the very command again, after its outcome was unknown, is the first answer and no replay', () => {
    const command = registerCommand()
    expect(stepAccount(afterSteps(command), command, SIGNED)).toMatchObject({
      answer: { created: true, replayed: false },
    })
  })
})

describe('credit and debit', () => {
  test('A4: an account’s times do not decrease when the clock does', () => {
    const snapshot = afterSteps(registerCommand({ atMs: START_MS + 1_000 }))
    const early = stepAccount(snapshot, submitCommand({}, { atMs: START_MS }), SIGNED)
    expect(transactionOf(early)).toMatchObject({ createdAtMs: START_MS, processedAtMs: START_MS + 1_000 })
  })

  test('a closed account takes no credit, and neither does one that refuses incoming value', () => {
    const closed = afterSteps(registerCommand(), statusCommand({ status: 'closed' }))
    expect(transactionOf(stepAccount(closed, submitCommand(), SIGNED)).failure?.code).toBe('account_closed')
    const refusing = afterSteps(registerCommand(), statusCommand({ incoming: 'refuse' }))
    expect(transactionOf(stepAccount(refusing, submitCommand(), SIGNED)).failure?.code).toBe('incoming_refused')
  })
})

describe('S2: the order of checks', () => {
  const unknown: Evidence = { ...SIGNED, verdict: () => undefined }
  const unsigned: Evidence = { ...SIGNED, verdict: () => false }

  test('the account is checked before the signature', () => {
    expect(refusalOf(stepAccount(null, submitCommand(), unsigned))).toBe('account_not_found')
  })

  test('without a verdict the step asks for one, by the key it sees', () => {
    const snapshot = afterSteps(registerCommand())
    expect(stepAccount(snapshot, submitCommand(), unknown)).toMatchObject({ kind: 'unverified', key: KEY })
  })

  test('the signature is checked before the replay, and the replay before all else', () => {
    const snapshot = afterSteps(registerCommand())
    const first = steppedOf(stepAccount(snapshot, submitCommand({ idempotencyKey: 'k' }), SIGNED))
    const { answer } = first
    if (answer === null || answer === 'deferred') throw new Error('Not answered.')
    const earlier: EarlierUse = { payloadHash: 'another', key: KEY, answer }
    const stranger = { ...CALLER, boundary: false }
    const repeat = submitCommand({ idempotencyKey: 'k' }, { caller: stranger })
    expect(refusalOf(stepAccount(first.state, repeat, { ...unsigned, earlier }))).toBe('signature_mismatch')
    expect(stepAccount(first.state, repeat, { ...SIGNED, earlier })).toMatchObject({
      kind: 'answered',
      answer: { kind: 'accepted', replayed: true, mismatch: true },
    })
    expect(refusalOf(stepAccount(first.state, repeat, SIGNED))).toBe('boundary_not_granted')
  })

  test('S3: a repeat may be signed by the key its original was accepted under, a new order may not', () => {
    const snapshot = afterSteps(registerCommand(), rotateCommand())
    const byOldKey: Evidence = { ...SIGNED, verdict: (keyId) => keyId === KEY.keyId }
    // D14: the refusal names the key expected to sign.
    expect(stepAccount(snapshot, submitCommand(), byOldKey)).toMatchObject({
      answer: { code: 'signature_mismatch', keyId: OTHER_KEY.keyId },
    })
    const answer = {
      kind: 'accepted',
      receipt: { txnId: 't', accountId: 'a', shardId: 7, enqueuedAtMs: 1, groupId: null },
    } as const
    const earlier: EarlierUse = { payloadHash: 'h', key: KEY, answer: { ...answer, replayed: false, mismatch: false } }
    expect(stepAccount(snapshot, submitCommand(), { ...byOldKey, earlier })).toMatchObject({
      answer: { replayed: true },
    })
  })

  test.for([
    ['boundary_not_granted', submitCommand({}, { caller: { ...CALLER, boundary: ['GOLD'] } })],
    ['wrong_ledger', submitCommand({ ledgerId: 'another' })],
    ['expired', submitCommand({ expiresAtMs: START_MS }, { atMs: START_MS })],
    ['class_not_found', submitCommand({ type: 'burn', tokenId: 'cls_1/ruby' })],
    ['token_not_found', submitCommand({ tokenId: 'GOLD', type: 'burn' })],
    ['group_terms_unknown', submitCommand({ groupId: GROUP, termsHash: '0'.repeat(64) })],
  ] as const)('S1: %s is refused and changes nothing', ([code, command]) => {
    const snapshot = afterSteps(registerCommand())
    const result = stepAccount(snapshot, command, SIGNED)
    expect(refusalOf(result)).toBe(code)
    expect(REFUSAL_CODES).toContain(code)
  })

  test('in production an order names its ledger and a rotation proves its new key', () => {
    const snapshot = afterSteps(registerCommand())
    const production: Evidence = { ...SIGNED, production: true }
    expect(refusalOf(stepAccount(snapshot, submitCommand(), production))).toBe('wrong_ledger')
    expect(refusalOf(stepAccount(snapshot, rotateCommand(), production))).toBe('proof_missing')
    const proven = rotateCommand({ proof: 'proof' })
    const mismatched: Evidence = { ...production, verdict: (_, signature) => signature !== 'proof' }
    expect(stepAccount(snapshot, proven, mismatched)).toMatchObject({
      answer: { code: 'proof_mismatch', keyId: OTHER_KEY.keyId },
    })
    expect(stepAccount(snapshot, proven, production)).toMatchObject({ kind: 'stepped', answer: { kind: 'rotated' } })
  })
})

describe('status', () => {
  test('the same values again change nothing; closing needs an empty account; closed is for good', () => {
    const snapshot = afterSteps(registerCommand(), submitCommand())
    expect(stepAccount(snapshot, statusCommand({ status: 'active' }), SIGNED).kind).toBe('answered')
    expect(refusalOf(stepAccount(snapshot, statusCommand({ status: 'closed' }), SIGNED))).toBe('account_not_empty')
    const closed = afterSteps(registerCommand(), statusCommand({ status: 'closed' }))
    expect(refusalOf(stepAccount(closed, statusCommand({ status: 'active' }), SIGNED))).toBe('account_closed')
    expect(refusalOf(stepAccount(closed, rotateCommand(), SIGNED))).toBe('account_not_active')
  })

  test('an omitted member keeps its value', () => {
    const snapshot = afterSteps(
      registerCommand(),
      statusCommand({ status: 'frozen' }),
      statusCommand({ incoming: 'refuse' }),
    )
    expect(snapshot).toMatchObject({ status: 'frozen', incoming: 'refuse', sequence: 2 })
  })
})
