/** Makes the columns of one shard's part of a commit: references instead of IDs, and sealed texts. */
import type { ActorState } from '../../../actors/actor-state.ts'
import { nftNameOf } from '../../../actors/nft-id.ts'
import { classKeyName, type KeyName, shardKeyName } from '../../vault/key-name.ts'
import { type Place, placeOf } from '../../vault/place.ts'
import type { Base64Text } from '../../vault/sealed-text.ts'
import type { MadeKeys, RowVault } from '../../vault/row-vault.ts'

export interface RowSealer {
  readonly shardId: number
  readonly vault: RowVault
  readonly made: MadeKeys
  readonly refOf: (accountId: string) => string
  /** Seals under the account's key. */
  readonly ofAccount: (accountId: string, place: Place, text: string) => Base64Text
  readonly seal: (name: KeyName, place: Place, text: string) => Base64Text
}

export function createRowSealer(vault: RowVault, shardId: number, made: MadeKeys): RowSealer {
  const seal = (name: KeyName, place: Place, text: string): Base64Text => vault.sealBase64(name, place, text, made)
  // The columns of a row ask for the same account, one after another.
  let asked: string | undefined
  let ref = ''
  const refOf = (accountId: string): string => {
    if (accountId !== asked) {
      ref = vault.accountRef(accountId)
      asked = accountId
    }
    return ref
  }
  return {
    shardId,
    vault,
    made,
    refOf,
    ofAccount: (accountId, place, text) => seal(vault.accountKeyName(accountId), place, text),
    seal,
  }
}

/** The name of the data key that seals an actor's document; `shardId`: its home. */
export function actorKeyName(state: ActorState, shardId: number): KeyName {
  if (state.kind === 'class') return classKeyName(state.classId)
  if (state.kind === 'instance') return nftKeyName(state.id, shardId)
  return shardKeyName(shardId)
}

/** `nftId`: `class/instance`. */
export function nftKeyName(nftId: string, shardId: number): KeyName {
  const name = nftNameOf(nftId)
  return name === undefined ? shardKeyName(shardId) : classKeyName(name.classId)
}

export const PLACES = {
  account: (shardId: number, ref: string, version: number) => placeOf('accounts', shardId, ref, version),
  lasting: (shardId: number, ref: string, version: number) => placeOf('accounts.lasting', shardId, ref, version),
  key: (shardId: number, ref: string, fromSequence: number) => placeOf('account_keys', shardId, ref, fromSequence),
  balance: (shardId: number, ref: string, tokenId: string) => placeOf('balances', shardId, ref, tokenId),
  entry: (shardId: number, ref: string, sequence: number) => placeOf('audit_entries', shardId, ref, sequence),
  transaction: (shardId: number, ref: string, txnId: string) => placeOf('transactions', shardId, ref, txnId),
  refunded: (shardId: number, ref: string, txnId: string) => placeOf('transactions.refunded', shardId, ref, txnId),
  operation: (shardId: number, ref: string, operation: string, keyRef: string) =>
    placeOf('operations', shardId, ref, operation, keyRef),
  hold: (shardId: number, ref: string, holdRef: string) => placeOf('holds', shardId, ref, holdRef),
  actor: (shardId: number, kind: string, id: string, version: number) => placeOf('actors', shardId, kind, id, version),
  nftEvent: (shardId: number, nftId: string, number: number) => placeOf('nft_events', shardId, nftId, number),
  message: (shardId: number, target: number, number: number) => placeOf('outbox', shardId, target, number),
  crossings: (session: string, number: number) => placeOf('boundary_crossings', session, number),
} as const
