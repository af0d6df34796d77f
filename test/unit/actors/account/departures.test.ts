/** A frozen account departs to one other ledger: each balance leaves by a debit, then the account closes for good. */
import { expect, test } from 'vitest'
import { Balances } from '../../../../actors/account/balances.ts'
import type { AccountCommand, DepartCommand } from '../../../../actors/account/commands.ts'
import type { Effect } from '../../../../actors/account/outcome.ts'
import { type AccountState, NOTHING_HELD } from '../../../../actors/account/state.ts'
import { BASE_UNIT, formatQuantity, parseQuantity } from '../../../../actors/money.ts'
import {
  ACCOUNT,
  CALLER,
  registerCommand,
  SALT,
  SIGNED,
  START_MS,
  statusCommand,
  submitCommand,
  afterSteps,
  stateAfter,
  stepAccount,
} from '../../../support/accounts.ts'
import { createHoldCommand } from '../../../support/holds.ts'

const GROUP = '0b2f8f0e-7f1c-4c5e-9d5e-0a1b2c3d4e5f'

let serial = 0
function departCommand(tokenId: string | null, changes: Partial<DepartCommand> = {}): DepartCommand {
  serial += 1
  return {
    type: 'depart',
    caller: { ...CALLER, role: 'admin' },
    atMs: START_MS + 1_000,
    salt: SALT,
    newTxnId: `txn_${serial}`,
    accountId: ACCOUNT,
    audience: 'there',
    tokenId,
    ...changes,
  }
}

function frozen(): AccountState {
  return afterSteps(
    registerCommand(),
    submitCommand({ type: 'credit', amount: '10.5', tokenId: BASE_UNIT }),
    statusCommand({ status: 'frozen' }),
  )
}

function ask(snapshot: AccountState, command: DepartCommand): string {
  const { kind, ...result } = stepAccount(snapshot, command, SIGNED)
  const answer = 'answer' in result ? result.answer : null
  if (answer === null || answer === 'deferred') return `${kind} ${String(answer)}`
  return `${kind} ${answer.kind === 'refused' ? answer.code : answer.kind}`
}

function after(snapshot: AccountState, ...commands: AccountCommand[]) {
  const effects: Effect[] = []
  let at = snapshot
  for (const command of commands) {
    const result = stepAccount(at, command, SIGNED)
    if (result.kind !== 'stepped') throw new Error(`${command.type} changed nothing`)
    at = stateAfter(result)
    effects.push(...result.effects)
  }
  return { at, effects }
}

test('a departing balance leaves by a debit that the ledger originates, and the account records the amount', () => {
  const { at, effects } = after(frozen(), departCommand(BASE_UNIT))
  expect(at.balances.get(BASE_UNIT)?.balance === 0n).toBe(true)
  expect(at.moved).toEqual({ audience: 'there', balances: { [BASE_UNIT]: '10.5' } })
  expect(effects).toContainEqual(
    expect.objectContaining({
      kind: 'transaction_entered',
      transaction: expect.objectContaining({
        type: 'debit',
        amount: '10.5',
        status: 'completed',
        origin: 'ledger',
        metadata: { ledger_id: 'there', reason: 'moved' },
      }),
    }),
  )
  const crossed = effects.flatMap((effect) =>
    effect.kind === 'boundary_crossed' ? [formatQuantity(effect.quantity)] : [],
  )
  expect(crossed).toEqual(['-10.5'])
})

test('the name of an object property is a valid token ID', () => {
  const issuer = afterSteps(registerCommand(), statusCommand({ status: 'frozen' }))
  const balance = { ...NOTHING_HELD, balance: parseQuantity('2'), updatedAtMs: START_MS }
  const holder = { ...issuer, balances: Balances.of([['constructor', balance]]) }
  expect(after(holder, departCommand('constructor')).at.moved?.balances).toEqual({ constructor: '2' })
})

test('the account closes once it is empty, and a repeated departure gets the same reply', () => {
  expect(ask(frozen(), departCommand(null))).toBe('answered account_not_empty')
  const { at } = after(frozen(), departCommand(BASE_UNIT), departCommand(null))
  expect(at.status).toBe('closed')
  expect(ask(at, departCommand(null))).toBe('answered departed')
  expect(ask(at, departCommand(BASE_UNIT))).toBe('answered departed')
})

test('an account whose value is on hold does not depart', () => {
  const funded = afterSteps(registerCommand(), submitCommand({ type: 'credit', amount: '10.5', tokenId: BASE_UNIT }))
  const creation = createHoldCommand({ accountId: ACCOUNT, payload: '{}' })
  const payer = stateAfter(stepAccount(funded, creation, { ...SIGNED, exists: () => true }))
  const { at } = after(payer, statusCommand({ status: 'frozen' }))
  for (const tokenId of [BASE_UNIT, null]) {
    expect(ask(at, departCommand(tokenId))).toBe('answered account_not_empty')
  }
})

test('a balance that arrives before the close departs as well, and its amount is added', () => {
  const { at } = after(
    frozen(),
    departCommand(BASE_UNIT),
    submitCommand({ type: 'credit', amount: '0.5', tokenId: BASE_UNIT }),
    departCommand(BASE_UNIT),
    departCommand(null),
  )
  expect(at.moved?.balances).toEqual({ [BASE_UNIT]: '11' })
})

test('an empty account closes and records its destination', () => {
  const { at } = after(afterSteps(registerCommand(), statusCommand({ status: 'frozen' })), departCommand(null))
  expect(at).toMatchObject({ status: 'closed', moved: { audience: 'there', balances: {} } })
})

test('only an administrator moves an account, which must be frozen and has one destination', () => {
  expect(ask(afterSteps(registerCommand()), departCommand(null))).toBe('answered account_not_frozen')
  const closed = afterSteps(registerCommand(), statusCommand({ status: 'closed' }))
  expect(ask(closed, departCommand(null))).toBe('answered account_not_frozen')
  const { at } = after(frozen(), departCommand(BASE_UNIT))
  expect(ask(at, departCommand(null, { audience: 'elsewhere' }))).toBe('answered account_departing')
  expect(ask(frozen(), departCommand(BASE_UNIT, { caller: CALLER }))).toBe('answered not_allowed')
})

test('an account with a pending transaction or an NFT does not depart', () => {
  const funded = afterSteps(registerCommand(), submitCommand({ type: 'credit', amount: '10', tokenId: BASE_UNIT }))
  const transfer = submitCommand({ type: 'transfer', amount: '1', toAccountId: 'bob', groupId: GROUP })
  const sending = stepAccount(funded, transfer, { ...SIGNED, exists: () => true })
  const { at } = after(stateAfter(sending), statusCommand({ status: 'frozen' }))
  expect(ask(at, departCommand(BASE_UNIT))).toBe('answered account_not_empty')
  for (const nfts of [{ nftCount: 1 }, { nftRoom: 1 }]) {
    expect(ask({ ...frozen(), ...nfts }, departCommand(BASE_UNIT))).toBe('answered account_not_empty')
  }
})
