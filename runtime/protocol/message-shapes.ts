/** Guards for every message between edges and nodes: wire.ts rejects any other. */
import { type Caller, METADATA_VERDICTS, ROLES } from '../../actors/account/commands.ts'
import type { Answer } from '../../actors/account/outcome.ts'
import type { AccountKey } from '../../actors/account/state.ts'
import { ACTOR_KINDS, type ActorAddress } from '../../actors/address.ts'
import type {
  Arrival,
  ArrivedFrom,
  ArrivingAccount,
  ArrivingClass,
  ArrivingInstance,
  ArrivingToken,
} from '../../actors/arrival.ts'
import { NFT_EVENT_TYPES, type NftEvent } from '../../actors/nft-instance/state.ts'
import { REFUSAL_CODES } from '../../actors/refusal.ts'
import type {
  DeliveredMessage,
  Delivery,
  DeliveryAnswer,
  Item,
  ItemVerdict,
  NamedTransaction,
  Operation,
  Verdict,
} from './messages.ts'
import type { TraceContext, Trail } from '../ports/trail.ts'
import {
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
  isTableOf,
  isText,
} from './shapes.ts'

const isTextOrNull = isNullOr(isText)
const isAddress = isObjectOf<ActorAddress>({ kind: isOneOf(ACTOR_KINDS), id: isText })
const isKey = isObjectOf<AccountKey>({ keyId: isText, publicKey: isText })

const isCaller = isObjectOf<Caller>({
  clientId: isText,
  role: isOneOf(ROLES),
  boundary: (value): value is Caller['boundary'] => isFlag(value) || (Array.isArray(value) && value.every(isText)),
})

const isTrail = isObjectOf<Trail>({
  requestId: isText,
  trace: isAbsentOr(
    isObjectOf<TraceContext>({
      traceId: isText,
      spanId: isText,
      parentSpanId: isText,
      sampled: isFlag,
      state: isText,
    }),
  ),
})

const isStatus = isOneOf(['active', 'frozen', 'closed'])
const isIncoming = isOneOf(['accept', 'refuse'])

const isArrival = isKindOf<Arrival>({
  account: {
    account: isNullOr(
      isObjectOf<ArrivingAccount>({
        key: isNullOr(isKey),
        status: isStatus,
        incoming: isIncoming,
        balances: isTableOf(isText),
        nfts: isCount,
        keySalt: isText,
        txnCount: isCount,
        tip: isText,
        createdAt: isText,
        updatedAt: isText,
      }),
    ),
  },
  token: {
    token: isObjectOf<ArrivingToken>({
      tokenId: isText,
      decimals: isCount,
      issuer: isText,
      initialSupply: isText,
      totalSupply: isText,
    }),
  },
  class: {
    nftClass: isObjectOf<ArrivingClass>({
      classId: isText,
      name: isText,
      description: isText,
      issuer: isText,
      metadataSchema: isRecord,
    }),
  },
  instance: {
    instance: isObjectOf<ArrivingInstance>({
      issuer: isText,
      owner: isText,
      status: isOneOf(['active', 'burned']),
      metadata: isRecord,
      mintedAtMs: isNumber,
      acquiredAtMs: isNumber,
      events: isListOf(
        isObjectOf<NftEvent>({
          number: isCount,
          type: isOneOf(NFT_EVENT_TYPES),
          from: isTextOrNull,
          to: isText,
          txnId: isText,
          atMs: isNumber,
          previousHash: isText,
          eventHash: isText,
          payload: isText,
        }),
      ),
    }),
  },
})

const signed = { payload: isText, signature: isText }
const registered = { payload: isText, signature: isTextOrNull, registrationKey: isTextOrNull }

/** The members of each kind of operation: the type `Operation` and the command follow from them. */
export const OPERATION_MEMBERS = {
  submit: signed,
  decline_legs: signed,
  /** `proof`: the signature by the new key over the same payload, which has neither `signature` nor `proof` in it. */
  rotate_key: { ...signed, proof: isTextOrNull },
  /** `metadataVerdict`: the edge's verdict on the payload's metadata by the class's schema. */
  mint: { ...signed, metadataVerdict: isOneOf(METADATA_VERDICTS) },
  register: { key: isKey, registrationKey: isTextOrNull },
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
    from: isObjectOf<ArrivedFrom>({ ledgerId: isText, importId: isText, recordHash: isText }),
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
    transactions: isListOf(isObjectOf<NamedTransaction>({ txnId: isText, accountId: isText })),
  },
}
const isOperation = isKindOf<Operation>(OPERATION_MEMBERS)

/** The members that identify an item. */
export type AttemptName = Pick<Item, 'requestId' | 'attempt'>
export const isAttemptName = isObjectOf<AttemptName>({ requestId: isText, attempt: isCount })

export const isItem = isObjectOf<Item>({
  requestId: isText,
  attempt: isCount,
  shardId: isCount,
  epoch: isCount,
  actor: isAddress,
  caller: isCaller,
  deadlineMs: isNumber,
  operation: isOperation,
  trail: isAbsentOr(isTrail),
})

/** The members of each kind of reply. The owner is trusted for their contents, which are not checked here. */
const CARRIED: { readonly [Kind in Answer['kind']]: string } = {
  accepted: 'receipt',
  registered: 'account',
  rotated: 'account',
  status_changed: 'account',
  actor_shown: 'actor',
  token_registered: 'token',
  group_registered: 'group',
  group_reverting: 'group',
  class_registered: 'nftClass',
  arrival: 'state',
  departed: 'account',
  minted: 'instance',
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

export const isItemVerdict = isObjectOf<ItemVerdict>({
  requestId: isText,
  attempt: isCount,
  verdict: isKindOf<Verdict>({
    answered: { answer: isAnswer },
    moved: { epoch: isNullOr(isCount) },
    overloaded: {},
    not_applied: {},
    undecided: {},
    unsupported_version: {},
  }),
})

/** Identifies a channel by its source and its target. */
export type ChannelName = Pick<Delivery, 'source' | 'target'>
export const isChannelName = isObjectOf<ChannelName>({ source: isCount, target: isCount })

export const isDelivery = isObjectOf<Delivery>({
  source: isCount,
  target: isCount,
  epoch: isCount,
  attempt: isCount,
  began: isCount,
  acknowledged: isCount,
  messages: isListOf(isObjectOf<DeliveredMessage>({ number: isCount, envelope: isRecord })),
})

export const isDeliveryAnswer = isObjectOf<DeliveryAnswer>({
  source: isCount,
  target: isCount,
  kind: isOneOf(['taken', 'moved', 'stopped', 'parked']),
  mark: isCount,
})
