/** State of an NFT instance. Plain JSON. */
import type { ArrivedFrom, ArrivingInstance } from '../arrival.ts'
import { GENESIS, type Hash } from '../audit-chain.ts'
import type { JsonObject } from '../canonical-json.ts'
import type { LegName, Stamp } from '../message.ts'
import { nftNameOf } from '../nft-id.ts'

/**
 * `minting`: its owner has not accepted it, or it is held for an import; `held`: a transaction or a leg has it, its owner is
 * still the sender.
 */
export type InstanceStatus = 'minting' | 'active' | 'held' | 'burned'

/** Everything of an instance but its status, which its machine knows. */
export interface InstanceData {
  readonly kind: 'instance'
  readonly format: 1
  /** `class/instance`. */
  readonly id: string
  /** Counts every write (I1b). */
  readonly version: number
  readonly issuer: string
  /** Of one that is burned, the last. */
  readonly owner: string
  readonly metadata: JsonObject
  /** Set while it is `minting` or `held`. */
  readonly hold: InstanceHold | null
  /** Of its history: how many entries, and the hash of the last. */
  readonly events: number
  readonly tip: Hash
  /** Of one that came from another ledger. `events`: entries of its history that are from there. */
  readonly arrived?: ArrivedFrom & { readonly events: number }
  /** While it is held for an import. */
  readonly arriving?: ArrivingInstance
  readonly mintedAtMs: number
  /** When it changed hands last. */
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
  /** The transaction of its owner; of a mint, the issuer's. */
  readonly txnId: string
  /** The account that has asked, and is told the end. */
  readonly accountId: string
  /** The new owner; null for a burn, and for an exchange, whose home names it. */
  readonly toAccountId: string | null
  /** The leg that it is held for. */
  readonly leg: LegName | null
}

/** An instance as it is shown. */
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
export interface NftEvent {
  /** From 0, the mint. */
  readonly number: number
  readonly type: NftEventType
  readonly from: string | null
  readonly to: string
  readonly txnId: string
  readonly atMs: number
  readonly previousHash: Hash
  readonly eventHash: Hash
  /** Canonical JSON: exactly what is hashed, as in the chains of accounts (C1). */
  readonly payload: string
}

/** undefined until it is minted. */
export function instanceViewOf({ id, status, owner, metadata, mintedAtMs }: InstanceState): InstanceView | undefined {
  const name = nftNameOf(id)
  if (status === 'minting' || name === undefined) return undefined
  return { ...name, owner, status, metadata, mintedAtMs }
}
