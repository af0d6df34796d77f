/** Properties of every machine of an actor, read from the definitions that run. */
import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { transition } from 'xstate'
import { isMessageType } from '../../../actors/message.ts'
import { accountActor } from '../../../actors/account/actor.ts'
import { ABSENT, defineActor } from '../../../actors/define-actor.ts'
import { mermaidOf, refusedIn, statesOf, transitionsOf } from '../../../infra/cli/actors.ts'
import { ACTOR_KINDS } from '../../../actors/address.ts'
import { ACTORS } from '../../../actors/step-actor.ts'
import { ACCOUNT, registerCommand, SALT, SIGNED } from '../../support/accounts.ts'

describe.each(ACTOR_KINDS)('the machine of %s', (kind) => {
  const states = statesOf(kind)
  const transitions = transitionsOf(kind)

  test('reaches every state from the state absent', () => {
    const reached = new Set([ABSENT])
    for (let size = 0; size !== reached.size;) {
      size = reached.size
      for (const { from, to } of transitions) if (to !== null && reached.has(from)) reached.add(to)
    }
    expect([...reached].sort()).toEqual([...states].sort())
  })

  test('takes or refuses every command of clients in every state', () => {
    const commands = new Set(transitions.map(({ command }) => command).filter((type) => !isMessageType(kind, type)))
    const unanswered = states.flatMap((state) =>
      [...commands].filter((command) => {
        if (command === 'due') return false
        const taken = transitions.filter((one) => one.from === state && one.command === command)
        const isRefused = refusedIn(kind, state).includes(command)
        // Either a last transition without a guard, or a code for those that no transition accepts.
        return (taken.at(-1)?.guard === null) === isRefused
      }),
    )
    expect(unanswered).toEqual([])
  })

  test('has no transition behind one without a guard', () => {
    const behind = transitions.filter(({ from, command, guard }, index) => {
      const next = transitions[index + 1]
      return guard === null && next?.from === from && next.command === command
    })
    expect(behind).toEqual([])
  })

  test('ignores a timer that was set for another time', () => {
    const timer: object = { type: 'due', dueAtMs: 1, atMs: 1, salt: SALT, newTxnId: 'txn_0' }
    const step = ACTORS[kind].step as (...given: readonly unknown[]) => unknown
    for (const { from, command } of transitions) {
      if (command !== 'due') continue
      const before = from === ABSENT ? null : { status: from, dueAtMs: null }
      expect(step('id', before, timer, SIGNED)).toEqual({ kind: 'answered', answer: null })
    }
  })

  test('is drawn in the README as it runs', () => {
    const readme = readFileSync('actors/README.md', 'utf8')
    expect(readme).toContain(`\`\`\`mermaid\n${mermaidOf(transitions)}\`\`\``)
  })

  test('gives by the fast way what transition() gives', () => {
    const { xstate } = ACTORS[kind]
    for (const state of states) {
      const snapshot = xstate.resolveState({ value: state, context: { data: null, status: state, effects: [] } })
      const [next] = transition(xstate, snapshot, { type: 'no such command' })
      expect(next.value).toBe(state)
    }
  })
})

test.for([
  ['data contradict its state', 'open', 'absent'],
  ['action runs on no account', 'claim', 'absent'],
])('D19: a machine whose %s is named by its kind and state, not by its ID', ([, actions, target]) => {
  const { machine } = accountActor
  const absent = { on: { register: { actions, target } } } as never
  const { step } = defineActor({ ...accountActor, machine: { ...machine, states: { ...machine.states, absent } } })
  const fails = () => step(ACCOUNT, null, registerCommand(), SIGNED)
  expect(fails).toThrow(/account absent/)
  expect(fails).not.toThrow(ACCOUNT)
})
