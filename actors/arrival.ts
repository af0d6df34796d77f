/**
 * Import of records from another ledger, at their homes. An import is applied whole or not at all: first each home
 * stages its record, and may refuse it; once all are staged, each home applies its record, which cannot be refused. A
 * staged record has no effect and is not shown. Plain JSON; quantities are decimal strings.
 */
import type { Caller, CommandBase } from './account/commands.ts'
import { type Answer, refusal } from './account/outcome.ts'
import type { AccountKey, IncomingPolicy } from './account/state.ts'
import type { Hash } from './audit-chain.ts'
import type { JsonObject } from './canonical-json.ts'
import type { Change } from './define-actor.ts'
import type { NftEvent } from './nft-instance/state.ts'

/** The origin of an imported record, kept with it. */
export interface ArrivedFrom {
  /** The ledger that exported it. */
  readonly ledgerId: string
  readonly importId: string
  /** SHA-256 of the exported record, 64 hexadecimal digits: importing the same record again changes nothing. */
  readonly recordHash: Hash
}

export interface ArrivingAccount {
  readonly key: AccountKey | null
  readonly status: 'active' | 'frozen' | 'closed'
  readonly incoming: IncomingPolicy
  /** By token ID; none is zero. */
  readonly balances: { readonly [tokenId: string]: string }
  /** Number of NFTs of the same import that the account owns. */
  readonly nfts: number
  /** Salt of the hashes of its used idempotency keys (`usedKeyHash`): 32 hexadecimal digits. */
  readonly keySalt: string
  /** On the source ledger: completed transactions, the chain's last hash, RFC 3339 timestamps. */
  readonly txnCount: number
  readonly tip: Hash
  readonly createdAt: string
  readonly updatedAt: string
}

export interface ArrivingToken {
  readonly tokenId: string
  readonly decimals: number
  readonly issuer: string
  readonly initialSupply: string
  readonly totalSupply: string
}

export interface ArrivingClass {
  readonly classId: string
  readonly name: string
  readonly description: string
  readonly issuer: string
  readonly metadataSchema: JsonObject
}

export interface ArrivingInstance {
  readonly issuer: string
  /** The last owner of a burned NFT. */
  readonly owner: string
  readonly status: 'active' | 'burned'
  readonly metadata: JsonObject
  readonly mintedAtMs: number
  readonly acquiredAtMs: number
  /** The whole history, from the mint. */
  readonly events: readonly NftEvent[]
}

/** An imported record. `account` null: only the account must exist, because it issued an imported token or class. */
export type Arrival =
  | { readonly kind: 'account'; readonly account: ArrivingAccount | null }
  | { readonly kind: 'token'; readonly token: ArrivingToken }
  | { readonly kind: 'class'; readonly nftClass: ArrivingClass }
  | { readonly kind: 'instance'; readonly instance: ArrivingInstance }

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
