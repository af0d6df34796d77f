/** State of an NFT instance. Plain JSON. */
import type { ArrivalCommand, ArrivedFrom, ArrivingInstance } from '../arrival.ts'
import { GENESIS, type Hash } from '../audit-chain.ts'
import type { JsonObject } from '../canonical-json.ts'
import type { InstanceMessage, LegName, Stamp } from '../message.ts'
import { nftNameOf } from '../nft-id.ts'
import { type Guarded, isCount, isNullOr, isNumber, isObjectOf, isOneOf, isText } from '../shapes.ts'

/** The version of the payload of an event in an NFT's history. */
export const NFT_EVENT_FORMAT = 1

/**
 * `minting`: waiting for the owner's acceptance, or staged for an import; `held`: held for a transaction or a leg, and
 * still owned by the sender.
 */
export type InstanceStatus = 'minting' | 'active' | 'held' | 'burned'

export interface InstanceData {
  readonly kind: 'instance'
  readonly format: 1
  /** `class/instance`. */
  readonly id: string
  /** Counts every write (I1b). */
  readonly version: number
  readonly issuer: string
  /** The last owner of a burned NFT. */
  readonly owner: string
  readonly metadata: JsonObject
  /** Set while it is `minting` or `held`. */
  readonly hold: InstanceHold | null
  /** Number of entries of the history, and the hash of the last. */
  readonly events: number
  readonly tip: Hash
  /** For an imported NFT. `events`: number of imported entries of the history. */
  readonly arrived?: ArrivedFrom & { readonly events: number }
  /** While staged for an import. */
  readonly arriving?: ArrivingInstance
  readonly mintedAtMs: number
  /** The time of the last change of owner. */
  readonly acquiredAtMs: number
  readonly lastTimeMs: number
  readonly dueAtMs: null
}

export function newInstance(
  id: string,
  of: Pick<InstanceData, 'issuer' | 'owner' | 'metadata' | 'mintedAtMs' | 'acquiredAtMs'>,
  { atMs }: Stamp,
): InstanceData {
  const { issuer, owner, metadata, mintedAtMs, acquiredAtMs } = of
  return {
    kind: 'instance',
    format: 1,
    id,
    version: 1,
    issuer,
    owner,
    metadata,
    hold: null,
    events: 0,
    tip: GENESIS,
    mintedAtMs,
    acquiredAtMs,
    lastTimeMs: atMs,
    dueAtMs: null,
  }
}

export interface InstanceState extends InstanceData {
  readonly status: InstanceStatus
}

export interface InstanceHold {
  /** The owner's transaction; the issuer's for a mint. */
  readonly txnId: string
  /** The account that requested the hold, and gets the outcome. */
  readonly accountId: string
  /** The new owner; null for a burn, and for an exchange, whose home names it. */
  readonly toAccountId: string | null
  /** The leg that requested the hold. */
  readonly leg: LegName | null
}

export interface InstanceView {
  readonly classId: string
  readonly instanceId: string
  readonly owner: string
  readonly status: 'active' | 'held' | 'burned'
  readonly metadata: JsonObject
  readonly mintedAtMs: number
}

export const NFT_EVENT_TYPES = ['mint', 'transfer', 'burn'] as const
export type NftEventType = (typeof NFT_EVENT_TYPES)[number]

/** One entry of an instance's history. `from`: null for the mint. */
export type NftEvent = Guarded<typeof isNftEvent>
export const isNftEvent = isObjectOf({
  /** From 0, the mint. */
  number: isCount,
  type: isOneOf(NFT_EVENT_TYPES),
  from: isNullOr(isText),
  to: isText,
  txnId: isText,
  atMs: isNumber,
  previousHash: isText,
  eventHash: isText,
  /** Canonical JSON: exactly what is hashed, as in the chains of accounts (C1). */
  payload: isText,
})

/** undefined while it is being minted. */
export function instanceViewOf({ id, status, owner, metadata, mintedAtMs }: InstanceState): InstanceView | undefined {
  const name = nftNameOf(id)
  if (status === 'minting' || name === undefined) return undefined
  return { ...name, owner, status, metadata, mintedAtMs }
}

export type InstanceCommand = ArrivalCommand<ArrivingInstance> | (InstanceMessage & Stamp)
export type InstanceCommandOf<Type extends InstanceCommand['type']> = Extract<InstanceCommand, { readonly type: Type }>
