/** Address of an actor. Each fact has one home: the shard that its actor's key hashes to, which alone decides it. */
import { foldedName } from './nft-class/state.ts'
import { type Guarded, isObjectOf, isOneOf, isText } from './shapes.ts'

export const ACTOR_KINDS = ['account', 'group', 'exchange', 'token', 'class', 'instance', 'hold'] as const
export type ActorKind = (typeof ACTOR_KINDS)[number]

/**
 * `id`: an account ID; a group ID in lower case, for groups and exchanges; a symbol in lower case, for tokens; a folded
 * name, for NFT classes; `class/instance`, for NFT instances; `hld_` and a ULID, for holds.
 */
export type ActorAddress = Guarded<typeof isActorAddress>
export const isActorAddress = isObjectOf({ kind: isOneOf(ACTOR_KINDS), id: isText })

/** An address as one string. Account IDs have no spaces, so that no two addresses have the same string. */
export function actorKey({ kind, id }: ActorAddress): string {
  return kind === 'account' ? id : `${kind} ${id}`
}

export function accountAddress(accountId: string): ActorAddress {
  return { kind: 'account', id: accountId }
}

export function groupAddress(groupId: string): ActorAddress {
  return { kind: 'group', id: groupId.toLowerCase() }
}

export function exchangeAddress(groupId: string): ActorAddress {
  return { kind: 'exchange', id: groupId.toLowerCase() }
}

export function tokenAddress(tokenId: string): ActorAddress {
  return { kind: 'token', id: tokenId.toLowerCase() }
}

/** A class's home follows from its name. */
export function classAddress(name: string): ActorAddress {
  return { kind: 'class', id: foldedName(name) }
}

export function holdAddress(holdId: string): ActorAddress {
  return { kind: 'hold', id: holdId }
}

/** `nftId`: `class/instance`. */
export function instanceAddress(nftId: string): ActorAddress {
  return { kind: 'instance', id: nftId }
}
