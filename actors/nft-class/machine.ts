/** The life of an NFT class: absent -> preparing (its issuer is asked) -> active; or absent again, when it does not agree. */
import { assign, setup, type SnapshotFrom } from 'xstate'
import { type Effect, refusal } from '../account/outcome.ts'
import { accountAddress } from '../address.ts'
import { inertScope } from '../inert-scope.ts'
import type { Message, Stamp } from '../message.ts'
import { invariant } from '../result.ts'
import { heldClass } from './arrival.ts'
import type { ClassCommand, HoldClass, RegisterClassCommand } from './commands.ts'
import { type ClassState, classViewOf, foldedName } from './state.ts'

export interface ClassContext {
  readonly nftClass: ClassState | null
  readonly effects: readonly Effect[]
}

interface Turn {
  readonly context: ClassContext
  readonly event: ClassCommand
}

const setUp = setup({
  types: { context: {} as ClassContext, events: {} as ClassCommand },
  guards: {
    isRefused: ({ event }) => event.type === 'issue_prepared' && event.refused !== null,
  },
  actions: {
    register: assign(({ event }) => register(event as RegisterClassCommand)),
    giveUp: assign(giveUp),
    activate: assign(activate),
    holdArrival: assign(({ event }) => ({ nftClass: heldClass(event as HoldClass), effects: [] })),
    takeArrival: assign(({ context, event }) => ({ nftClass: activated(context.nftClass, event), effects: [] })),
    dropArrival: assign(() => ({ nftClass: null, effects: [] })),
  },
})

export const classMachine = setUp.createMachine({
  id: 'class',
  context: { nftClass: null, effects: [] },
  initial: 'absent',
  states: {
    absent: {
      on: {
        register_class: { target: 'preparing', actions: 'register' },
        hold_arrival: { target: 'preparing', actions: 'holdArrival' },
      },
    },
    preparing: {
      on: {
        issue_prepared: [
          { guard: 'isRefused', target: 'absent', actions: 'giveUp' },
          { target: 'active', actions: 'activate' },
        ],
        take_arrival: { target: 'active', actions: 'takeArrival' },
        drop_arrival: { target: 'absent', actions: 'dropArrival' },
      },
    },
    active: {},
  },
})

function register(command: RegisterClassCommand): ClassContext {
  const { name, description, issuer, metadataSchema, caller, atMs } = command
  const id = foldedName(name)
  const nftClass: ClassState = {
    kind: 'class',
    format: 1,
    id,
    version: 1,
    status: 'preparing',
    classId: command.newClassId,
    name,
    description,
    issuer,
    metadataSchema,
    clientId: caller.clientId,
    registrationKey: command.registrationKey,
    createdAtMs: atMs,
    lastTimeMs: atMs,
    dueAtMs: null,
  }
  const message: Message = {
    type: 'prepare_class',
    name: id,
    clientId: caller.clientId,
    consentNeeded: command.consentNeeded,
    payload: command.payload,
    signature: command.signature,
  }
  const envelope = { to: accountAddress(issuer), message, carries: [] }
  return { nftClass, effects: [{ kind: 'message_sent', envelope }] }
}

/** The issuer does not agree: the name is free again. */
function giveUp({ event }: Turn): ClassContext {
  const refused = event.type === 'issue_prepared' ? event.refused : null
  invariant(refused !== null, 'an abandoned class registration was refused')
  const { code, detail, keyId } = refused
  return { nftClass: null, effects: [{ kind: 'concluded', answer: refusal(code, detail, 'issuer', keyId) }] }
}

function activate({ context, event }: Turn): ClassContext {
  const active = activated(context.nftClass, event)
  if (active === null) return context
  const answer = { kind: 'class_registered', nftClass: classViewOf(active), replayed: false, mismatch: false } as const
  return { nftClass: active, effects: [{ kind: 'concluded', answer }] }
}

function activated(nftClass: ClassState | null, { atMs }: Stamp): ClassState | null {
  if (nftClass === null) return null
  const { version, lastTimeMs } = nftClass
  return { ...nftClass, status: 'active', version: version + 1, lastTimeMs: Math.max(atMs, lastTimeMs) }
}

export type ClassSnapshot = SnapshotFrom<typeof classMachine>

const scope = inertScope(classMachine)

export function classSnapshotOf(nftClass: ClassState | null): ClassSnapshot {
  return classMachine.resolveState({ value: nftClass?.status ?? 'absent', context: { nftClass, effects: [] } })
}

/** The next snapshot; the very same object when no transition accepts the command. */
export function advanceClass(snapshot: ClassSnapshot, command: ClassCommand): ClassSnapshot {
  return classMachine.transition(snapshot, command, scope)
}
