/**
 * Messages between edges and nodes, and their guards: wire.ts rejects any other. One message carries all items of one
 * tick for one node. Each item names its shard and epoch and gets its own verdict. A node returns the verdicts in one
 * message for each batch.
 */
import { type Caller, METADATA_VERDICTS, ROLES } from '../../actors/account/commands.ts'
import type { Answer } from '../../actors/account/outcome.ts'
import { isAccountKey } from '../../actors/account/state.ts'
import { isActorAddress } from '../../actors/address.ts'
import { isArrival, isArrivedFrom, isIncoming, isStatus } from '../../actors/arrival.ts'
import { REFUSAL_CODES } from '../../actors/refusal.ts'
import {
  type Guard,
  type Guarded,
  isAbsentOr,
  isCount,
  isFlag,
  isKindOf,
  isListOf,
  isNullOr,
  isNumber,
  isObjectOf,
  isOneOf,
  isRecord,
  isText,
} from '../../actors/shapes.ts'
import type { WrittenEnvelope } from '../ports/ledger-store.ts'
import { isSpanName, isTrail } from '../ports/trail.ts'

const isTextOrNull = isNullOr(isText)

const isCaller: Guard<Caller> = isObjectOf({
  clientId: isText,
  role: isOneOf(ROLES),
  boundary: (value): value is Caller['boundary'] => isFlag(value) || (Array.isArray(value) && value.every(isText)),
})

export type NamedTransaction = Guarded<typeof isNamedTransaction>
const isNamedTransaction = isObjectOf({ txnId: isText, accountId: isText })

const signed = { payload: isText, signature: isText }
const registered = { payload: isText, signature: isTextOrNull, registrationKey: isTextOrNull }

/** The members of each kind of operation: the type `Operation` and the command follow from them. */
export const OPERATION_MEMBERS = {
  submit: signed,
  /** A submission that captures a hold. `fromAccountId`, `tokenId`: the hold's payer and asset, as the edge has read them. */
  capture: { ...signed, fromAccountId: isText, tokenId: isText },
  create_hold: signed,
  /** By the beneficiary. */
  release_hold: signed,
  /** By an administrator. */
  force_release: { reason: isText },
  /** The reply is the effect that `submit` would have now; nothing changes. */
  dry_run: signed,
  decline_legs: signed,
  /** `proof`: the signature by the new key over the same payload, which has neither `signature` nor `proof` in it. */
  rotate_key: { ...signed, proof: isTextOrNull },
  /** `metadataVerdict`: the edge's verdict on the payload's metadata by the class's schema. */
  mint: { ...signed, metadataVerdict: isOneOf(METADATA_VERDICTS) },
  register: { key: isAccountKey, registrationKey: isTextOrNull },
  change_status: {
    status: isNullOr(isStatus),
    incoming: isNullOr(isIncoming),
    reason: isText,
    registrationKey: isAbsentOr(isTextOrNull),
  },
  erase: { reason: isText },
  pause: { reason: isText },
  resume: { reason: isText },
  show_actor: {},
  /** Imports, by administrators; each is idempotent. */
  hold_arrival: {
    from: isArrivedFrom,
    arrival: isArrival,
  },
  /** `part`: from 0; after all records are staged, and before the account's record is applied. */
  note_used_keys: { importId: isText, part: isCount, hashes: isListOf(isText) },
  take_arrival: { importId: isText },
  drop_arrival: { importId: isText },
  /** Moves a frozen account's balance of a token to another ledger. With null, closes the empty account. */
  depart: { audience: isText, tokenId: isTextOrNull },
  /** `signature`: the issuer's, or null. */
  register_token: registered,
  register_class: registered,
  register_group: { payload: isText, registrationKey: isTextOrNull },
  /** `transactions`: those to compensate in a linked group; empty for a registered one. */
  revert_group: {
    reason: isText,
    transactions: isListOf(isNamedTransaction),
  },
}
/** A client's request. The owner reads the fields out of the signed payload itself. */
export type Operation = Guarded<typeof isOperation>
const isOperation = isKindOf(OPERATION_MEMBERS)

/** One attempt at one request. `requestId` names the request over all its attempts; `attempt` counts from 1. */
export type Item = Guarded<typeof isItem>
export const isItem = isObjectOf({
  requestId: isText,
  attempt: isCount,
  shardId: isCount,
  epoch: isCount,
  actor: isActorAddress,
  caller: isCaller,
  /** Wall clock, milliseconds since 1970: later the client no longer waits, and the step drops the item. */
  deadlineMs: isNumber,
  operation: isOperation,
  /** For logs. */
  trail: isAbsentOr(isTrail),
})

/** The members that identify an item. */
export type AttemptName = Guarded<typeof isAttemptName>
export const isAttemptName = isObjectOf({ requestId: isText, attempt: isCount })

/** The members of each kind of reply. The owner is trusted for their contents, which are not checked here. */
const CARRIED: { readonly [Kind in Answer['kind']]: string } = {
  accepted: 'receipt',
  registered: 'account',
  rotated: 'account',
  status_changed: 'account',
  actor_shown: 'actor',
  dry_run: 'result',
  token_registered: 'token',
  group_registered: 'group',
  group_reverting: 'group',
  class_registered: 'nftClass',
  arrival: 'state',
  departed: 'account',
  minted: 'instance',
  hold_created: 'hold',
  hold_released: 'hold',
  refused: 'code',
  legs_declined: 'groupId',
}
const carriedBy: ReadonlyMap<unknown, string> = new Map(Object.entries(CARRIED))
const REPLIES_WITH_TEXT: ReadonlySet<unknown> = new Set(['arrival', 'legs_declined'])
const isRefusalCode = isOneOf(REFUSAL_CODES)

function isAnswer(value: unknown): value is Answer {
  if (!isRecord(value)) return false
  const carried = value[carriedBy.get(value['kind']) ?? '']
  if (value['kind'] === 'refused') return isRefusalCode(carried)
  return isRecord(carried) || (REPLIES_WITH_TEXT.has(value['kind']) && isText(carried))
}

/**
 *   `answered`: the reply left the output gate and holds.
 *   `moved`, `overloaded`: the item never entered a mailbox on this attempt.
 *   `not_applied`: it entered, the store refused its commit, and it left: the attempt has no effect.
 *   `undecided`: it entered, and the owner does not know the outcome.
 *   `unsupported_version`: the item never entered a mailbox on this attempt, because the node does not know its form.
 */
export type Verdict = Guarded<typeof isVerdict>
const isVerdict = isKindOf({
  answered: { answer: isAnswer },
  moved: { epoch: isNullOr(isCount) },
  overloaded: {},
  not_applied: {},
  undecided: {},
  unsupported_version: {},
})

export type ItemVerdict = Guarded<typeof isItemVerdict>
export const isItemVerdict = isObjectOf({ requestId: isText, attempt: isCount, verdict: isVerdict })

/** The subject of a node's session: a message to an ended session has no listener. */
export function sessionSubject(session: string): string {
  return `ledger.node.${session}`
}

/** The subject for messages between shards. */
export function deliverySubject(session: string): string {
  return `ledger.node.${session}.deliveries`
}

/** The subject for calls between nodes about shards. */
export function controlSubject(session: string): string {
  return `ledger.node.${session}.control`
}

export type DeliveredMessage = Guarded<typeof isDeliveredMessage>
const isDeliveredMessage = isObjectOf({
  number: isCount,
  envelope: (value): value is WrittenEnvelope => isRecord(value),
  /** The span of its delivery, of a recorded trace; never stored. */
  trace: isAbsentOr(isSpanName),
})

/**
 * Consecutive committed messages from one shard to another. `acknowledged`: the last acknowledged number. `epoch`,
 * `attempt`: the source's incarnation that sends them; `began`: the last number sent before that incarnation. A store
 * was rewound if the target's mark is below the first, or above the last while that incarnation has sent nothing.
 */
export type Delivery = Guarded<typeof isDelivery>
export const isDelivery = isObjectOf({
  source: isCount,
  target: isCount,
  epoch: isCount,
  attempt: isCount,
  began: isCount,
  acknowledged: isCount,
  messages: isListOf(isDeliveredMessage),
})

/** Identifies a channel by its source and its target. */
export type ChannelName = Guarded<typeof isChannelName>
export const isChannelName = isObjectOf({ source: isCount, target: isCount })

/**
 * The outcome of a delivery. `taken`: everything up to `mark` is committed. `moved`: the target is not served here.
 * `stopped`: the counters contradict each other; the channel needs an operator. `parked`: the target cannot handle the
 * message after `mark`; the source resends it later.
 */
export type DeliveryAnswer = Guarded<typeof isDeliveryAnswer>
export const isDeliveryAnswer = isObjectOf({
  source: isCount,
  target: isCount,
  kind: isOneOf(['taken', 'moved', 'stopped', 'parked']),
  mark: isCount,
})
