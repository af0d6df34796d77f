/** Only a closed account is erased, and only once. An erased account reveals neither its client nor its key. */
import { describe, expect, test } from 'vitest'
import { chainHash, ENTRY_FORMAT } from '../../../../actors/audit-chain.ts'
import type { EarlierUse } from '../../../../actors/account/outcome.ts'
import { viewOf } from '../../../../actors/account/outcome.ts'
import { BASE_UNIT } from '../../../../actors/money.ts'
import {
  afterSteps,
  CALLER,
  eraseCommand,
  KEY,
  refusalOf,
  registerCommand,
  rotateCommand,
  SIGNED,
  statusCommand,
  stepAccount,
  steppedOf,
  submitCommand,
} from '../../../support/accounts.ts'

const emptied = [registerCommand(), submitCommand(), submitCommand({ type: 'debit' })]
const closed = afterSteps(...emptied, statusCommand({ status: 'closed' }))

describe('erasing an account', () => {
  test('removes the key, the balances and the registering client, and keeps the counts and the chain', () => {
    expect(closed.balances.has(BASE_UNIT)).toBe(true)
    const { state: erased, effects, answer } = steppedOf(stepAccount(closed, eraseCommand({ reason: 'asked to' })))
    expect(erased).toMatchObject({ status: 'erased', key: null, registeredBy: '', completedCount: 2, failedCount: 0 })
    expect([erased.balances.size, erased.holds.size]).toEqual([0, 0])
    expect([erased.version, erased.sequence]).toEqual([closed.version + 1, closed.sequence + 1])
    expect(answer).toEqual({ kind: 'status_changed', account: viewOf(erased) })
    expect(effects.map(({ kind }) => kind)).toEqual(['entry_appended', 'account_erased'])
  })

  test('appends an entry with a valid link to the chain', () => {
    const { state, effects } = steppedOf(stepAccount(closed, eraseCommand({ reason: 'asked to' }), SIGNED))
    const [entry] = effects.flatMap((effect) => (effect.kind === 'entry_appended' ? [effect.entry] : []))
    if (entry === undefined) throw new Error('there is no entry')
    expect(JSON.parse(entry.payload)).toMatchObject({ kind: 'erasure', reason: 'asked to', format: ENTRY_FORMAT })
    expect(entry.previousHash).toBe(closed.tip)
    expect(chainHash(entry.previousHash, entry.payload)).toBe(state.tip)
  })

  test('gives the same reply again without another step', () => {
    const first = steppedOf(stepAccount(closed, eraseCommand(), SIGNED))
    const again = stepAccount(first.state, eraseCommand({ reason: 'again' }), SIGNED)
    expect(again).toEqual({ kind: 'answered', answer: first.answer })
  })

  test.for([
    ['account_not_found', null],
    ['account_not_closed', afterSteps(registerCommand())],
    ['account_not_closed', afterSteps(registerCommand(), statusCommand({ status: 'frozen' }))],
  ] as const)('of an account that is not closed is refused: %s', ([code, snapshot]) => {
    expect(refusalOf(stepAccount(snapshot, eraseCommand(), SIGNED))).toBe(code)
  })
})

describe('an erased account', () => {
  const { state: erased } = steppedOf(stepAccount(closed, eraseCommand(), SIGNED))

  test('refuses every registration, by any client and key, a replay of its own included', () => {
    const account = viewOf(closed)
    const answer = { kind: 'registered', account, created: true, replayed: false, mismatch: false } as const
    const earlier: EarlierUse = { payloadHash: 'h', key: KEY, answer }
    const admin = registerCommand({ caller: { ...CALLER, role: 'admin' } })
    for (const command of [registerCommand(), admin]) {
      expect(refusalOf(stepAccount(erased, command, SIGNED))).toBe('public_key_conflict')
      expect(refusalOf(stepAccount(erased, command, { ...SIGNED, earlier }))).toBe('public_key_conflict')
    }
  })

  test('refuses every order, and replays no accepted one', () => {
    const receipt = { txnId: 't', accountId: 'a', shardId: 7, enqueuedAtMs: 1, groupId: null }
    const answer = { kind: 'accepted', receipt, replayed: false, mismatch: false } as const
    const earlier: EarlierUse = { payloadHash: 'h', key: KEY, answer }
    for (const command of [submitCommand(), rotateCommand()]) {
      expect(refusalOf(stepAccount(erased, command, SIGNED))).toBe('account_closed')
      expect(refusalOf(stepAccount(erased, command, { ...SIGNED, earlier }))).toBe('account_closed')
    }
    expect(refusalOf(stepAccount(erased, statusCommand({ status: 'active' }), SIGNED))).toBe('account_closed')
  })
})
