/**
 * Import of records from another ledger, at their homes. An import is applied whole or not at all: first each home
 * stages its record, and may refuse it; once all are staged, each home applies its record, which cannot be refused. A
 * staged record has no effect and is not shown. Plain JSON; quantities are decimal strings.
 */
import type { Caller, CommandBase } from './account/commands.ts'
import { type Answer, refusal } from './account/outcome.ts'
import { isAccountKey } from './account/state.ts'
import type { JsonObject } from './canonical-json.ts'
import type { Change } from './define-actor.ts'
import { isNftEvent } from './nft-instance/state.ts'
import {
  type Guard,
  type Guarded,
  isCount,
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

/** The origin of an imported record, kept with it. */
export type ArrivedFrom = Guarded<typeof isArrivedFrom>
export const isArrivedFrom = isObjectOf({
  /** The ledger that exported it. */
  ledgerId: isText,
  importId: isText,
  /** SHA-256 of the exported record, 64 hexadecimal digits: importing the same record again changes nothing. */
  recordHash: isText,
})

export const isStatus = isOneOf(['active', 'frozen', 'closed'])
export const isIncoming = isOneOf(['accept', 'refuse'])
const isJsonObject: Guard<JsonObject> = isRecord

export type ArrivingAccount = Guarded<typeof isArrivingAccount>
const isArrivingAccount = isObjectOf({
  key: isNullOr(isAccountKey),
  status: isStatus,
  incoming: isIncoming,
  /** By token ID; none is zero. */
  balances: isTableOf(isText),
  /** Number of NFTs of the same import that the account owns. */
  nfts: isCount,
  /** Salt of the hashes of its used idempotency keys (`usedKeyHash`): 32 hexadecimal digits. */
  keySalt: isText,
  /** On the source ledger: completed transactions, the chain's last hash, RFC 3339 timestamps. */
  txnCount: isCount,
  tip: isText,
  createdAt: isText,
  updatedAt: isText,
})

export type ArrivingToken = Guarded<typeof isArrivingToken>
const isArrivingToken = isObjectOf({
  tokenId: isText,
  decimals: isCount,
  issuer: isText,
  initialSupply: isText,
  totalSupply: isText,
})

export type ArrivingClass = Guarded<typeof isArrivingClass>
const isArrivingClass = isObjectOf({
  classId: isText,
  name: isText,
  description: isText,
  issuer: isText,
  metadataSchema: isJsonObject,
})

export type ArrivingInstance = Guarded<typeof isArrivingInstance>
const isArrivingInstance = isObjectOf({
  issuer: isText,
  /** The last owner of a burned NFT. */
  owner: isText,
  status: isOneOf(['active', 'burned']),
  metadata: isJsonObject,
  mintedAtMs: isNumber,
  acquiredAtMs: isNumber,
  /** The whole history, from the mint. */
  events: isListOf(isNftEvent),
})

/** An imported record. `account` null: only the account must exist, because it issued an imported token or class. */
export type Arrival = Guarded<typeof isArrival>
export const isArrival = isKindOf({
  account: { account: isNullOr(isArrivingAccount) },
  token: { token: isArrivingToken },
  class: { nftClass: isArrivingClass },
  instance: { instance: isArrivingInstance },
})

/**
 * The home's reply, idempotent. `held`: staged, until applied or dropped. `present`: the same record is already
 * applied.
 * `noted`: the hashes of used keys are stored.
 */
export type ArrivalState = 'held' | 'present' | 'noted' | 'taken' | 'dropped'

/** Limit on used-key hashes in one command. */
export const MAX_USED_KEYS = 2_000

/** `arrival`: the record to stage. */
export interface HoldArrivalCommand<What> extends CommandBase {
  readonly type: 'hold_arrival'
  readonly from: ArrivedFrom
  readonly arrival: What
}

export interface TakeArrivalCommand extends CommandBase {
  readonly type: 'take_arrival'
  readonly importId: string
}

export interface DropArrivalCommand extends CommandBase {
  readonly type: 'drop_arrival'
  readonly importId: string
}

export type ArrivalCommand<What> = HoldArrivalCommand<What> | TakeArrivalCommand | DropArrivalCommand

/** Whether both are the same record in the same import. */
export function isSameArrival(a: ArrivedFrom, b: ArrivedFrom): boolean {
  return a.importId === b.importId && a.ledgerId === b.ledgerId && a.recordHash === b.recordHash
}

/** Whether both are the same record of the same ledger, in any import. */
export function isSameRecord(a: ArrivedFrom, b: ArrivedFrom): boolean {
  return a.ledgerId === b.ledgerId && a.recordHash === b.recordHash
}

export const NOT_HELD = {
  code: 'arrival_not_held',
  detail: 'The import has staged nothing here.',
  field: 'import_id',
} as const

/** undefined: the caller is an administrator. */
export function ofAdministrators({ caller }: Pick<CommandBase, 'caller'>): Answer | undefined {
  return caller.role === 'admin' ? undefined : refusal('not_allowed', 'This operation requires the role admin.')
}

const ARRIVAL_TYPES: ReadonlySet<string> = new Set(['hold_arrival', 'take_arrival', 'drop_arrival', 'note_used_keys'])

/** Only administrators move accounts between ledgers. */
export function authorizeArrival({
  type,
  caller,
}: {
  readonly type: string
  readonly caller?: Caller
}): Answer | undefined {
  return ARRIVAL_TYPES.has(type) && caller !== undefined ? ofAdministrators({ caller }) : undefined
}

const DONE = {
  hold_arrival: 'held',
  note_used_keys: 'noted',
  take_arrival: 'taken',
  drop_arrival: 'dropped',
} as const satisfies Readonly<Record<string, ArrivalState>>

export function arrivalAnswer({ type }: { readonly type: keyof typeof DONE }): Answer {
  return { kind: 'arrival', state: DONE[type] }
}

type AnyArrivalCommand = ArrivalCommand<never>

/** Guards of every asset. */
export const ARRIVAL_GUARDS = {
  isHeldBy: ({ arrived }: { readonly arrived?: ArrivedFrom }, { importId }: TakeArrivalCommand | DropArrivalCommand) =>
    arrived?.importId === importId,
  hasArrived: ({ arrived }: { readonly arrived?: ArrivedFrom }) => arrived !== undefined,
}

/** Actions of every asset. */
export const ARRIVAL_ACTIONS = {
  forgetArrival: (_asset: object, command: AnyArrivalCommand): Change<never> => ({
    data: null,
    answer: arrivalAnswer(command),
  }),
  answerArrival: <Data>(data: Data, command: AnyArrivalCommand): Change<Data> => ({
    data,
    answer: arrivalAnswer(command),
  }),
  showPresent: <Data>(data: Data): Change<Data> => ({ data, answer: { kind: 'arrival', state: 'present' } }),
}

export const ARRIVAL_CREATIONS = {
  answerAbsent: (command: AnyArrivalCommand): Change<never> => ({ data: null, answer: arrivalAnswer(command) }),
}
