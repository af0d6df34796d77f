/** D24: refusals of a dry run. That its result is that of the order: every submission of test/model/mini-ledger.ts. */
import { expect, test } from 'vitest'
import type { Submission, SubmitCommand } from '../../../../actors/account/commands.ts'
import type { AccountState } from '../../../../actors/account/state.ts'
import {
  afterSteps,
  refusalOf,
  registerCommand,
  SIGNED,
  statusCommand,
  stepAccount,
  submitCommand,
} from '../../../support/accounts.ts'

const ACTIVE = afterSteps(registerCommand(), submitCommand({ amount: '10' }))
const EMPTY = afterSteps(registerCommand())
const CLOSED = afterSteps(registerCommand(), statusCommand({ status: 'closed' }))

function rehearsal(fields: Partial<Submission> = {}): SubmitCommand {
  return submitCommand({ type: 'debit', amount: '1', ...fields }, { type: 'dry_run' })
}

test.for<[string, AccountState | null, SubmitCommand]>([
  ['account_not_found', null, rehearsal()],
  ['token_not_found', ACTIVE, rehearsal({ tokenId: 'GOLD' })],
  ['token_not_found', CLOSED, rehearsal({ tokenId: 'GOLD' })],
  ['account_paused', { ...ACTIVE, paused: true }, rehearsal()],
  ['wrong_ledger', ACTIVE, rehearsal({ ledgerId: 'ledger-2' })],
])('is refused as the order would be: %s', ([code, account, command]) => {
  expect(refusalOf(stepAccount(account, command))).toBe(code)
  expect(refusalOf(stepAccount(account, { ...command, type: 'submit' }))).toBe(code)
})

test('is refused without a valid signature', () => {
  const forged = { ...SIGNED, verdict: () => false }
  expect(refusalOf(stepAccount(ACTIVE, rehearsal(), forged))).toBe('signature_mismatch')
})

test('of an account that another ledger exported needs its ledger ID, and no look-up of used keys', () => {
  const origin = { ledgerId: 'l', importId: 'i', recordHash: 'ab'.repeat(32), keySalt: 'ab'.repeat(16) }
  const arrived: AccountState = { ...EMPTY, arrived: origin }
  expect(refusalOf(stepAccount(arrived, rehearsal()))).toBe('wrong_ledger')
  const named = { ledgerId: SIGNED.ledgerId }
  expect(stepAccount(arrived, { ...rehearsal(named), type: 'submit' })).toEqual({ kind: 'stale_look_up' })
  expect(stepAccount(arrived, rehearsal(named))).toMatchObject({
    kind: 'answered',
    answer: { kind: 'dry_run', result: { outcome: 'failed', failure: { code: 'insufficient_funds' } } },
  })
})
