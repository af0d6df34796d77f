/** A paused account sends no value. Its earlier orders complete, and incoming value arrives. */
import { expect, test } from 'vitest'
import type { PauseCommand } from '../../../../actors/account/commands.ts'
import { BASE_UNIT, formatQuantity } from '../../../../actors/money.ts'
import {
  ACCOUNT,
  afterSteps,
  mintCommand,
  refusalOf,
  registerCommand,
  rotateCommand,
  SIGNED,
  START_MS,
  stateAfter,
  statusCommand,
  stepAccount,
  steppedOf,
  submitCommand,
} from '../../../support/accounts.ts'
import { received } from '../../../support/arriving-accounts.ts'

function pauseCommand(type: PauseCommand['type']): PauseCommand {
  const { caller, salt, newTxnId } = registerCommand()
  return { type, accountId: ACCOUNT, reason: 'a stolen key', caller, salt, newTxnId, atMs: START_MS }
}

const funded = afterSteps(registerCommand(), submitCommand({ amount: '10' }))
const TRANSFER = submitCommand({ type: 'transfer', amount: '4', toAccountId: 'bob' })
const sending = stateAfter(stepAccount(funded, TRANSFER, { ...SIGNED, exists: () => true }))
const paused = stateAfter(stepAccount(sending, pauseCommand('pause')))

test.for([
  ['debit', submitCommand({ type: 'debit', amount: '1' })],
  ['transfer', submitCommand({ type: 'transfer', amount: '1', toAccountId: 'bob' })],
  ['mint of an NFT', mintCommand({ accountId: ACCOUNT, classId: 'cls_1', instanceId: 'ruby' })],
] as const)('a paused account is refused its %s', ([, command]) => {
  const nftClass = () => ({ classId: 'cls_1', issuer: ACCOUNT })
  expect(refusalOf(stepAccount(paused, command, { ...SIGNED, nftClass, exists: () => true }))).toBe('account_paused')
})

test.for([
  ['transfer', submitCommand({ type: 'transfer', amount: '1', toAccountId: 'bob' }), 'receiver_not_found'],
  ['mint of an NFT', mintCommand({ accountId: ACCOUNT, classId: 'cls_1', instanceId: 'ruby' }), 'class_not_found'],
] as const)('an invalid %s of a paused account is refused for its own error', ([, command, code]) => {
  expect(refusalOf(stepAccount(paused, command))).toBe(code)
})

test('a paused account receives value, completes earlier transfers and may rotate its key', () => {
  const credited = stateAfter(stepAccount(paused, submitCommand({ amount: '1' })))
  const given = stateAfter(stepAccount(credited, received('2')))
  const concluded = stateAfter(
    stepAccount(given, {
      ...received('0'),
      type: 'conclude_transfer',
      txnId: TRANSFER.newTxnId,
      failure: null,
      counterTxnId: 'txn_there',
    }),
  )
  const balance = concluded.balances.get(BASE_UNIT)
  expect(balance === undefined ? '' : formatQuantity(balance.balance)).toBe('9')
  expect(stepAccount(concluded, rotateCommand()).kind).toBe('stepped')
})

test.for([
  ['active', sending],
  ['frozen', stateAfter(stepAccount(sending, statusCommand({ status: 'frozen' })))],
] as const)('the chain of an account that is %s records one pause and one resumption', ([status, running]) => {
  const first = steppedOf(stepAccount(running, pauseCommand('pause')))
  const paused = stateAfter(stepAccount(running, pauseCommand('pause')))
  const [entry] = first.effects.flatMap((effect) => (effect.kind === 'entry_appended' ? [effect.entry] : []))
  expect(JSON.parse(entry?.payload ?? '{}')).toMatchObject({ kind: 'pause', reason: 'a stolen key' })
  expect(first.answer).toMatchObject({ kind: 'actor_shown', actor: { paused: true, holds: 1, pending: 1 } })
  expect(stepAccount(paused, pauseCommand('pause'))).toMatchObject({ kind: 'answered', answer: first.answer })
  const resumed = stateAfter(stepAccount(paused, pauseCommand('resume')))
  expect([resumed.paused, resumed.sequence]).toEqual([undefined, paused.sequence + 1])
  expect(stepAccount(resumed, pauseCommand('resume'))).toMatchObject({ kind: 'answered' })
  expect(stepAccount(resumed, submitCommand({ type: 'debit', amount: '1' })).kind).toBe('stepped')
  expect(resumed.status).toBe(status)
})

test('freezing and activating keep a pause; a closed or unknown account cannot be paused', () => {
  const frozen = stateAfter(stepAccount(paused, statusCommand({ status: 'frozen' })))
  const active = stateAfter(stepAccount(frozen, statusCommand({ status: 'active' })))
  expect(refusalOf(stepAccount(active, submitCommand({ type: 'debit', amount: '1' })))).toBe('account_paused')
  const closed = afterSteps(registerCommand(), statusCommand({ status: 'closed' }))
  expect(refusalOf(stepAccount(closed, pauseCommand('pause')))).toBe('account_closed')
  expect(refusalOf(stepAccount(null, pauseCommand('pause')))).toBe('account_not_found')
})
