/**
 * What another ledger signed over to this one, as its home takes it in. Two steps, so that of an import all is here or
 * nothing: first every home holds what is its own and can refuse it; once all hold theirs, every home takes it, and that none
 * can refuse. Until then nothing of it counts or is shown.
 * Plain JSON; quantities are decimal strings.
 */
import type { Caller, CommandBase } from './account/commands.ts'
import { type Answer, refusal } from './account/outcome.ts'
import type { AccountKey, IncomingPolicy } from './account/state.ts'
import type { Hash } from './audit-chain.ts'
import type { JsonObject } from './canonical-json.ts'
import type { Change } from './define-actor.ts'
import type { NftEvent } from './nft-instance/state.ts'

/** Where something came from, kept with it for as long as it is here. */
export interface ArrivedFrom {
  /** The ledger that it was exported from. */
  readonly ledgerId: string
  readonly importId: string
  /** SHA-256 of what it was exported as, 64 hexadecimal digits: the same again changes nothing. */
  readonly recordHash: Hash
}

export interface ArrivingAccount {
  readonly key: AccountKey | null
  readonly status: 'active' | 'frozen' | 'closed'
  readonly incoming: IncomingPolicy
  /** By token ID; none is zero. */
  readonly balances: { readonly [tokenId: string]: string }
  /** How many NFTs of the same import are its own. */
  readonly nfts: number
  /** Salt of the hashes of its used idempotency keys (`usedKeyHash`): 32 hexadecimal digits. */
  readonly keySalt: string
  /** On its former ledger: completed transactions, the chain's last hash, RFC 3339 timestamps. */
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
  /** Of one that is burned, the last. */
  readonly owner: string
  readonly status: 'active' | 'burned'
  readonly metadata: JsonObject
  readonly mintedAtMs: number
  readonly acquiredAtMs: number
  /** Its whole history, from the mint on. */
  readonly events: readonly NftEvent[]
}

/** An imported record. `account` null: only the account must exist, because it issued an imported token or class. */
export type Arrival =
  | { readonly kind: 'account'; readonly account: ArrivingAccount | null }
  | { readonly kind: 'token'; readonly token: ArrivingToken }
  | { readonly kind: 'class'; readonly nftClass: ArrivingClass }
  | { readonly kind: 'instance'; readonly instance: ArrivingInstance }

/**
 * What its home says. `held`: by this import, until it is taken or dropped. `present`: the same is here already, nothing is to
 * be done. `noted`: hashes of used keys. Each is said again when it is asked again.
 */
export type ArrivalState = 'held' | 'present' | 'noted' | 'taken' | 'dropped'

/** Hashes of used keys that one command brings. */
export const MAX_USED_KEYS = 2_000

/** `arrival`: what is to be held. */
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

/** Whether both came in the same import as the same. */
export function isSameArrival(a: ArrivedFrom, b: ArrivedFrom): boolean {
  return a.importId === b.importId && a.ledgerId === b.ledgerId && a.recordHash === b.recordHash
}

/** Whether both are the same thing of the same ledger, in whichever import they came. */
export function isSameRecord(a: ArrivedFrom, b: ArrivedFrom): boolean {
  return a.ledgerId === b.ledgerId && a.recordHash === b.recordHash
}

export const NOT_HELD = {
  code: 'arrival_not_held',
  detail: 'The import has no hold here.',
  field: 'import_id',
} as const

/** undefined: whoever asks may. */
export function ofAdministrators({ caller }: Pick<CommandBase, 'caller'>): Answer | undefined {
  return caller.role === 'admin' ? undefined : refusal('not_allowed', 'This needs the role admin.')
}

const ARRIVAL_TYPES: ReadonlySet<string> = new Set(['hold_arrival', 'take_arrival', 'drop_arrival', 'note_used_keys'])

/** Accounts move, and come, by administrators alone. */
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

/** Where it is done, or has been. */
export function arrivalAnswer({ type }: { readonly type: keyof typeof DONE }): Answer {
  return { kind: 'arrival', state: DONE[type] }
}

type Asked = ArrivalCommand<never>

/** Guards that every asset has. */
export const ARRIVAL_GUARDS = {
  isHeldBy: ({ arrived }: { readonly arrived?: ArrivedFrom }, { importId }: TakeArrivalCommand | DropArrivalCommand) =>
    arrived?.importId === importId,
  hasArrived: ({ arrived }: { readonly arrived?: ArrivedFrom }) => arrived !== undefined,
}

/** Actions that every asset has. */
export const ARRIVAL_ACTIONS = {
  forgetArrival: (_asset: object, command: Asked): Change<never> => ({ data: null, answer: arrivalAnswer(command) }),
  answerArrival: <Data>(data: Data, command: Asked): Change<Data> => ({ data, answer: arrivalAnswer(command) }),
  showPresent: <Data>(data: Data): Change<Data> => ({ data, answer: { kind: 'arrival', state: 'present' } }),
}

export const ARRIVAL_CREATIONS = {
  answerAbsent: (command: Asked): Change<never> => ({ data: null, answer: arrivalAnswer(command) }),
}
