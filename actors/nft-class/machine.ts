/**
 * The life of an NFT class: absent -> preparing (its issuer is asked) -> active; or absent again, when the issuer does not
 * agree.
 */
import { refusal } from '../account/outcome.ts'
import { accountAddress } from '../address.ts'
import { ARRIVAL_ACTIONS, ARRIVAL_CREATIONS, ARRIVAL_GUARDS, arrivalAnswer } from '../arrival.ts'
import { canonicalJson } from '../canonical-json.ts'
import { ABSENT, type Change, type MachineDefinition } from '../define-actor.ts'
import type { Message, Stamp } from '../message.ts'
import { invariant } from '../result.ts'
import { holdArrival, isSameClass, isSameHold } from './arrival.ts'
import type { ClassArrivalCommand, ClassCommand, RegisterClassCommand } from './commands.ts'
import { type ClassData, type ClassStatus, classViewOf, foldedName } from './state.ts'

type IssuePrepared = Extract<ClassCommand, { readonly type: 'issue_prepared' }>

const GUARDS = {
  isRepeat: ({ clientId, registrationKey }: ClassData, command: RegisterClassCommand) =>
    clientId === command.caller.clientId && registrationKey === command.registrationKey,
  isRefused: (_nftClass: ClassData, { refused }: IssuePrepared) => refused !== null,
  isSameClass,
  isSameHold,
  ...ARRIVAL_GUARDS,
}

const ACTIONS = {
  defer: (data: ClassData): Change<ClassData> => ({ data, answer: 'deferred' }),
  showRegistered,
  giveUp,
  activate,
  takeArrival: (data: ClassData, command: ClassArrivalCommand) => ({
    data: written(data, command),
    answer: arrivalAnswer(command),
  }),
  ...ARRIVAL_ACTIONS,
}

const CREATIONS = {
  register,
  holdArrival,
  ...ARRIVAL_CREATIONS,
}

export const classMachine = {
  guards: GUARDS,
  actions: ACTIONS,
  creations: CREATIONS,
  states: {
    absent: {
      on: {
        register_class: { target: 'preparing', actions: 'register' },
        hold_arrival: { target: 'preparing', actions: 'holdArrival' },
        drop_arrival: { actions: 'answerAbsent' },
      },
    },
    preparing: {
      on: {
        register_class: { guard: 'isRepeat', actions: 'defer' },
        issue_prepared: [
          { guard: 'isRefused', target: ABSENT, actions: 'giveUp' },
          { target: 'active', actions: 'activate' },
        ],
        hold_arrival: { guard: 'isSameHold', actions: 'answerArrival' },
        take_arrival: { guard: 'isHeldBy', target: 'active', actions: 'takeArrival' },
        drop_arrival: [{ guard: 'isHeldBy', target: ABSENT, actions: 'forgetArrival' }, { actions: 'answerArrival' }],
      },
    },
    active: {
      on: {
        register_class: { guard: 'isRepeat', actions: 'showRegistered' },
        hold_arrival: { guard: 'isSameClass', actions: 'showPresent' },
        take_arrival: { guard: 'hasArrived', actions: 'answerArrival' },
        drop_arrival: { actions: 'answerArrival' },
      },
    },
  },
} as const satisfies MachineDefinition<ClassData, ClassStatus, ClassCommand, unknown>

function register(command: RegisterClassCommand): Change<ClassData> {
  const { name, description, issuer, metadataSchema, caller, atMs } = command
  const id = foldedName(name)
  const data: ClassData = {
    kind: 'class',
    format: 1,
    id,
    version: 1,
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
  return { data, effects: [{ kind: 'message_sent', envelope }], answer: 'deferred' }
}

/** The issuer does not agree: the name is free again. */
function giveUp(_nftClass: ClassData, { refused }: IssuePrepared): Change<ClassData> {
  invariant(refused !== null, 'an abandoned class registration was refused')
  const { code, detail, keyId } = refused
  return { data: null, effects: [{ kind: 'concluded', answer: refusal(code, detail, 'issuer', keyId) }] }
}

function activate(nftClass: ClassData, stamp: Stamp): Change<ClassData> {
  const data = written(nftClass, stamp)
  const answer = { kind: 'class_registered', nftClass: classViewOf(data), replayed: false, mismatch: false } as const
  return { data, effects: [{ kind: 'concluded', answer }] }
}

function written(nftClass: ClassData, { atMs }: Stamp): ClassData {
  const { version, lastTimeMs } = nftClass
  return { ...nftClass, version: version + 1, lastTimeMs: Math.max(atMs, lastTimeMs) }
}

function showRegistered(data: ClassData, command: RegisterClassCommand): Change<ClassData> {
  const replayed = !command.registrationKey.startsWith('request ')
  const mismatch = asksForAnother(data, command)
  return { data, answer: { kind: 'class_registered', nftClass: classViewOf(data), replayed, mismatch } }
}

/** Whether it is registered otherwise than is asked now. */
function asksForAnother(
  nftClass: ClassData,
  { name, description, issuer, metadataSchema }: RegisterClassCommand,
): boolean {
  return (
    nftClass.name !== name ||
    nftClass.description !== description ||
    nftClass.issuer !== issuer ||
    canonicalJson(nftClass.metadataSchema) !== canonicalJson(metadataSchema)
  )
}
