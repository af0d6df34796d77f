/**
 * Immutable facts of any shard: existing accounts, decimals and issuers of tokens, issuers of classes, minted NFTs.
 * Absence is not cached.
 *   F1. Facts known at a command's look-up stay known until its step, whatever the cache evicts.
 */
import type { AssetEvidence } from '../../../actors/account/submission.ts'
import { actorKey, tokenAddress } from '../../../actors/address.ts'
import type { ClassFacts } from '../../../actors/nft-class/state.ts'
import { type TokenFacts, tokenFactsOf } from '../../../actors/token/state.ts'
import { type BoundedCache, createBoundedCache } from '../../common/bounded-cache.ts'
import { addressOf, type AccountAddress, type LookUpAnswer } from '../../ports/ledger-store.ts'
import type { RarePaths } from '../../ports/rare-paths.ts'

const MAX_TOKENS = 10_000
const MAX_CLASSES = 10_000
const MAX_ACCOUNTS = 200_000
const MAX_NFTS = 200_000

export interface Facts extends AssetEvidence {
  readonly exists: (account: AccountAddress) => boolean
  /** Adds the facts that a look-up found. */
  readonly note: (answer: FoundFacts) => void
}

export type FoundFacts = Pick<LookUpAnswer, 'tokens' | 'existing' | 'classes' | 'instances'>

type Cache<V> = Pick<BoundedCache<string, V>, 'get' | 'set'>

/** By address, since symbols ignore case; classes and NFTs by ID. */
interface Caches {
  readonly tokens: Cache<TokenFacts>
  readonly classes: Cache<ClassFacts>
  readonly accounts: Cache<true>
  readonly nfts: Cache<true>
}

export function createFacts(rare: RarePaths): Facts {
  let caches = boundedCaches()
  return {
    ...over(() => caches),
    note: (answer) => {
      if (rare.takes('facts_forgotten')) caches = boundedCaches()
      note(caches, answer)
    },
  }
}

/** F1: keeps the facts of one look-up; facts of the node's cache are copied when read. */
export function createFactsOfLookUp(facts: Facts): Facts {
  const own: Caches = { tokens: new Map(), classes: new Map(), accounts: new Map(), nfts: new Map() }
  const { token, nftClass, minted, exists } = over(() => own)
  return {
    note: (answer) => note(own, answer),
    token: (id) => token(id) ?? kept(own.tokens, actorKey(tokenAddress(id)), facts.token(id)),
    nftClass: (id) => nftClass(id) ?? kept(own.classes, id, facts.nftClass(id)),
    minted: (id) => minted(id) || kept(own.nfts, id, facts.minted(id) || undefined) === true,
    exists: (account) =>
      exists(account) || kept(own.accounts, addressOf(account), facts.exists(account) || undefined) === true,
  }
}

function kept<V>(cache: Cache<V>, key: string, found: V | undefined): V | undefined {
  if (found !== undefined) cache.set(key, found)
  return found
}

function boundedCaches(): Caches {
  return {
    tokens: createBoundedCache(MAX_TOKENS),
    classes: createBoundedCache(MAX_CLASSES),
    accounts: createBoundedCache(MAX_ACCOUNTS),
    nfts: createBoundedCache(MAX_NFTS),
  }
}

function over(caches: () => Caches): Omit<Facts, 'note'> {
  return {
    token: (tokenId) => {
      const facts = caches().tokens.get(actorKey(tokenAddress(tokenId)))
      return facts?.tokenId === tokenId ? facts : undefined
    },
    nftClass: (classId) => caches().classes.get(classId),
    minted: (nftId) => caches().nfts.get(nftId) === true,
    exists: (account) => caches().accounts.get(addressOf(account)) === true,
  }
}

function note({ tokens, classes, accounts, nfts }: Caches, answer: FoundFacts): void {
  for (const [key, state] of answer.tokens) {
    const facts = state.kind === 'token' ? tokenFactsOf(state) : undefined
    if (facts !== undefined) tokens.set(key, facts)
  }
  for (const [classId, facts] of answer.classes) classes.set(classId, facts)
  for (const address of answer.existing) accounts.set(address, true)
  for (const nftId of answer.instances) nfts.set(nftId, true)
}
