/** Goal: the fast way through xstate gives what `transition()` gives, on every path of the account's life. */
import { transition } from 'xstate'
import { getShortestPaths } from 'xstate/graph'
import { describe, expect, test } from 'vitest'
import {
  accountMachine,
  absentAccount,
  type AccountEvent,
  advance,
  snapshotOf,
} from '../../../actors/account/machine.ts'
import {
  accountIn,
  eraseCommand,
  registerCommand,
  rotateCommand,
  statusCommand,
  submitCommand,
} from '../../support/accounts.ts'

const EVENTS: AccountEvent[] = [
  registerCommand(),
  submitCommand({ type: 'credit', amount: '10' }),
  submitCommand({ type: 'debit', amount: '10' }),
  rotateCommand(),
  statusCommand({ status: 'frozen' }),
  statusCommand({ status: 'active' }),
  statusCommand({ status: 'closed' }),
  statusCommand({ incoming: 'refuse' }),
  eraseCommand(),
]

const paths = getShortestPaths(accountMachine, {
  events: EVENTS,
  serializeState: (snapshot) =>
    JSON.stringify([
      snapshot.value,
      snapshot.context.account?.incoming,
      [...(snapshot.context.account?.balances.values() ?? [])].map(({ balance }) => balance.toFixed()),
    ]),
  limit: 5_000,
  stopWhen: (snapshot) => (snapshot.context.account?.version ?? 0) > 6,
})

describe('the account machine', () => {
  test('reaches every state of its life', () => {
    const reached = new Set(paths.map(({ state }) => JSON.stringify(state.value)))
    expect([...reached].sort()).toEqual(['"absent"', '"active"', '"closed"', '"erased"', '"frozen"'])
    expect(paths.length).toBeGreaterThan(10)
  })

  test.for(paths.map((path, index) => [index, path] as const))('path %i: advance() equals transition()', ([, path]) => {
    let fast = absentAccount
    let slow = accountMachine.resolveState({ value: 'absent', context: { account: null, effects: [] } })
    for (const { event } of path.steps) {
      if (!EVENTS.includes(event)) continue
      fast = advance(fast, event)
      ;[slow] = transition(accountMachine, slow, event)
      expect(fast.value).toEqual(slow.value)
      expect(fast.context).toEqual(slow.context)
    }
  })

  test('a command that no transition accepts gives the very same snapshot', () => {
    const closed = advance(advance(absentAccount, registerCommand()), statusCommand({ status: 'closed' }))
    expect(closed.value).toBe('closed')
    expect(advance(closed, rotateCommand())).toBe(closed)
    const erased = advance(closed, eraseCommand())
    expect(erased.value).toBe('erased')
    for (const command of [...EVENTS, eraseCommand()]) expect(advance(erased, command)).toBe(erased)
    expect(advance(absentAccount, submitCommand())).toBe(absentAccount)
  })

  test('a snapshot made from a stored account goes on like the one it came from', () => {
    const lived = advance(advance(absentAccount, registerCommand()), statusCommand({ status: 'frozen' }))
    const loaded = snapshotOf(accountIn(lived))
    const command = submitCommand()
    expect(advance(loaded, command).context).toEqual(advance(lived, command).context)
  })
})
