/** Goal: the fast way through xstate gives what `transition()` gives, on every path of an NFT's life and of a class's. */
import { transition } from 'xstate'
import { getShortestPaths } from 'xstate/graph'
import { describe, expect, test } from 'vitest'
import { failure } from '../../../actors/account/transaction.ts'
import type { InstanceMessage } from '../../../actors/message.ts'
import type { ClassCommand } from '../../../actors/nft-class/commands.ts'
import { advanceClass, classMachine, type ClassSnapshot, classSnapshotOf } from '../../../actors/nft-class/machine.ts'
import { stepClass } from '../../../actors/nft-class/step.ts'
import {
  advanceInstance,
  instanceMachine,
  type InstanceSnapshot,
  instanceSnapshotOf,
} from '../../../actors/nft-instance/machine.ts'
import type { InstanceCommand } from '../../../actors/nft-instance/possession.ts'
import { stepInstance } from '../../../actors/nft-instance/step.ts'
import { BrokenInvariant } from '../../../actors/result.ts'
import { registerClassCommand, SALT, START_MS } from '../../support/accounts.ts'

const NFT = 'cls_00000000000000000000000001/ruby'
const CLOSED = failure('account_closed')

function command(message: InstanceMessage): InstanceCommand {
  return { ...message, nftId: NFT, atMs: START_MS, salt: SALT, newTxnId: '' }
}

/** Ann hands it to Bob in one leg, and burns it in the other. */
const LEGS = [
  { groupId: 'group-1', leg: 0, role: 'instance' },
  { groupId: 'group-2', leg: 1, role: 'instance' },
] as const
function received(txnId: string): readonly InstanceMessage[] {
  return [CLOSED, null].map((why) => ({ type: 'nft_received', txnId, failure: why, counterTxnId: null }))
}

function moved(txnId: string, accountId: string, toAccountId: string): InstanceMessage {
  const terms = { groupId: null, metadata: null, expiresAtMs: null, compensates: null }
  return { type: 'move_nft', txnId, accountId, toAccountId, ...terms }
}

const MESSAGES: readonly InstanceMessage[] = [
  { type: 'mint_nft', txnId: 'mint', issuer: 'ann', owner: 'ann', metadata: {} },
  ...['mint', 'away', 'back'].flatMap(received),
  moved('away', 'ann', 'bob'),
  moved('back', 'bob', 'ann'),
  ...['ann', 'bob'].map((accountId) => ({ type: 'burn_nft', txnId: 'burn', accountId }) as const),
  { type: 'hold_nft', txnId: 'swap', accountId: 'ann', leg: null, toAccountId: null },
  { type: 'release_nft', txnId: 'swap', accountId: 'ann', leg: null },
  { type: 'deliver_nft', txnId: 'swap', toAccountId: 'bob', exchangeId: 'group-3' },
  ...LEGS.flatMap((leg, index): readonly InstanceMessage[] => [
    { type: 'hold_nft', txnId: `leg-${index}`, accountId: 'ann', leg, toAccountId: index === 0 ? 'bob' : null },
    { type: 'release_nft', txnId: `leg-${index}`, accountId: 'ann', leg },
    { type: 'settle_leg', ...leg },
  ]),
]
const COMMANDS = MESSAGES.map(command)

function isBroken(attempt: () => unknown): boolean {
  try {
    attempt()
    return false
  } catch (error) {
    if (error instanceof BrokenInvariant) return true
    throw error
  }
}

/** Those that somebody who keeps to what was agreed might say now. */
function sayable({ context: { instance } }: Pick<InstanceSnapshot, 'context'>): InstanceCommand[] {
  return COMMANDS.filter((said) => !isBroken(() => stepInstance(instance, NFT, said)))
}

function instanceKey({ value, context: { instance } }: Pick<InstanceSnapshot, 'value' | 'context'>): string {
  const { owner, hold } = instance ?? {}
  return JSON.stringify([value, owner, hold])
}

/** Paths of bounded length: histories grow for ever. */
const instancePaths = getShortestPaths(instanceMachine, {
  events: (snapshot) => sayable(snapshot),
  serializeState: instanceKey,
  limit: 20_000,
})

describe('the machine of an NFT', () => {
  test('reaches every state of its life, and every step that is heard somewhere', () => {
    const states = new Set(instancePaths.map(({ state }) => state.value))
    expect([...states].sort()).toEqual(['absent', 'active', 'burned', 'held', 'minting'])
    const heard = new Set(instancePaths.flatMap(({ state }) => sayable(state).map(({ type }) => type)))
    expect([...heard].sort()).toEqual([...new Set(MESSAGES.map(({ type }) => type))].sort())
    expect(instancePaths.length).toBeGreaterThan(10)
  })

  test.for(instancePaths.map((path, index) => [index, path] as const))(
    'path %i: advanceInstance() equals transition(), and so does every step from its end',
    ([, path]) => {
      let fast = instanceSnapshotOf(null)
      let slow = instanceMachine.resolveState({ value: 'absent', context: { instance: null, effects: [] } })
      for (const { event } of path.steps) {
        const said = COMMANDS.find((known) => known === event)
        if (said === undefined) continue
        fast = advanceInstance(fast, said)
        ;[slow] = transition(instanceMachine, slow, said)
      }
      for (const said of sayable(fast)) {
        const [next] = transition(instanceMachine, slow, said)
        const quick = advanceInstance(fast, said)
        expect([quick.value, quick.context]).toEqual([next.value, next.context])
        expect(quick.value).toBe(quick.context.instance?.status ?? 'absent')
      }
      expect([fast.value, fast.context]).toEqual([slow.value, slow.context])
    },
  )

  test.for(instancePaths.map((path, index) => [index, path] as const))(
    'path %i: what was stored goes on like what it was stored of, and nothing else is heard',
    ([, { state }]) => {
      const { instance } = state.context
      const live = instanceMachine.resolveState({ value: state.value, context: { instance, effects: [] } })
      const loaded = instanceSnapshotOf(instance)
      const can = sayable(state)
      for (const said of can) {
        expect(advanceInstance(loaded, said).context).toEqual(advanceInstance(live, said).context)
      }
      for (const said of COMMANDS.filter((known) => !can.includes(known))) {
        expect(isBroken(() => stepInstance(instance, NFT, said))).toBe(true)
      }
    },
  )

  test('O1: nothing leads from burned to an owner, nor from anything but absent to a mint', () => {
    for (const { state } of instancePaths) {
      const { instance } = state.context
      for (const said of sayable(state)) {
        const { context } = advanceInstance(instanceSnapshotOf(instance), said)
        const minted = context.effects.some((effect) => effect.kind === 'nft_event' && effect.event.type === 'mint')
        expect(minted && instance?.status !== 'minting').toBe(false)
        expect(instance?.status === 'burned' && context.instance?.status !== 'burned').toBe(false)
        expect(instance?.status === 'burned' && context.effects.some(({ kind }) => kind === 'nft_event')).toBe(false)
      }
    }
  })

  test('each step writes a version, keeps or raises the time, and leaves the state before as it was', () => {
    for (const { state } of instancePaths) {
      const { instance } = state.context
      const before = JSON.stringify(instance)
      for (const said of sayable(state)) {
        const { context } = advanceInstance(instanceSnapshotOf(instance), { ...said, atMs: START_MS - 5 })
        if (instance === null || context.instance === null || context.instance === instance) continue
        expect(context.instance.version).toBeGreaterThan(instance.version)
        expect(context.instance.lastTimeMs).toBe(instance.lastTimeMs)
      }
      expect(JSON.stringify(instance)).toBe(before)
    }
  })

  test('O2: what another transaction’s receiver says of it is a broken invariant, minting or held', () => {
    for (const { state } of instancePaths) {
      const { instance } = state.context
      for (const said of COMMANDS) {
        if (said.type !== 'nft_received') continue
        expect(isBroken(() => stepInstance(instance, NFT, said))).toBe(instance?.hold?.txnId !== said.txnId)
      }
    }
  })

  test('a command that no transition accepts gives the very same snapshot', () => {
    for (const { state } of instancePaths) {
      const loaded = instanceSnapshotOf(state.context.instance)
      const deaf = COMMANDS.filter((said) => !loaded.can(said))
      for (const said of deaf) expect(advanceInstance(loaded, said)).toBe(loaded)
    }
    expect(advanceInstance(instanceSnapshotOf(null), command(moved('away', 'ann', 'bob'))).value).toBe('absent')
  })
})

const REGISTER = registerClassCommand({ issuer: 'ann' })
const PREPARED = [null, { code: 'account_closed', detail: 'Closed.' } as const].map((refused): ClassCommand => ({
  type: 'issue_prepared',
  refused,
  atMs: START_MS,
  salt: SALT,
  newTxnId: '',
}))

function classKey({ value, context: { nftClass } }: Pick<ClassSnapshot, 'value' | 'context'>): string {
  return JSON.stringify([value, nftClass])
}

const CLASS_COMMANDS: readonly ClassCommand[] = [REGISTER, ...PREPARED]
const classPaths = getShortestPaths(classMachine, { events: [...CLASS_COMMANDS], serializeState: classKey })

describe('the machine of a class', () => {
  test('reaches every state of its life', () => {
    expect(classPaths.map(({ state }) => state.value).sort()).toEqual(['absent', 'active', 'preparing'])
  })

  test.for(classPaths.map((path, index) => [index, path] as const))(
    'path %i: advanceClass() equals transition(), and so does every step from its end',
    ([, path]) => {
      let fast = classSnapshotOf(null)
      let slow = classMachine.resolveState({ value: 'absent', context: { nftClass: null, effects: [] } })
      for (const { event } of path.steps) {
        const said = CLASS_COMMANDS.find((known) => known === event)
        if (said === undefined) continue
        fast = advanceClass(fast, said)
        ;[slow] = transition(classMachine, slow, said)
      }
      expect([fast.value, fast.context]).toEqual([slow.value, slow.context])
      for (const said of CLASS_COMMANDS) {
        const [next] = transition(classMachine, slow, said)
        const quick = advanceClass(fast, said)
        expect([quick.value, quick.context.nftClass]).toEqual([next.value, next.context.nftClass])
        expect(quick === fast).toBe(!fast.can(said))
        const loaded = classSnapshotOf(fast.context.nftClass)
        expect(advanceClass(loaded, said).context.nftClass).toEqual(quick.context.nftClass)
      }
    },
  )

  test('an issuer that answers twice, or one that nobody asked, is a broken invariant', () => {
    for (const { state } of classPaths) {
      const { nftClass } = state.context
      for (const said of PREPARED) {
        expect(isBroken(() => stepClass(nftClass, said))).toBe(nftClass?.status !== 'preparing')
      }
    }
  })
})
