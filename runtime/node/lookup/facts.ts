/**
 * Facts that never change, of any shard: that an account exists, what a token's decimals and issuer are, who issues a class,
 * that an NFT was minted. What is not there yet is not remembered.
 *   F1. What was known when a command was looked up is known at its step, whatever leaves this memory in between.
 */
import type { AssetEvidence } from '../../../actors/account/submission.ts'
import { actorKey, tokenAddress } from '../../../actors/address.ts'
import type { ClassFacts } from '../../../actors/nft-class/state.ts'
import { type TokenFacts, tokenFactsOf } from '../../../actors/token/state.ts'
import { type BoundedCache, createBoundedCache } from '../../bounded-cache.ts'
import { addressOf, type AccountAddress, type LookUpAnswer } from '../../ports/ledger-store.ts'
import type { RarePaths } from '../../ports/rare-paths.ts'

const MAX_TOKENS = 10_000
const MAX_CLASSES = 10_000
const MAX_ACCOUNTS = 200_000
const MAX_NFTS = 200_000

export interface Facts extends AssetEvidence {
  readonly exists: (account: AccountAddress) => boolean
  /** Takes up what a look-up found. */
  readonly note: (answer: FoundFacts) => void
}

export type FoundFacts = Pick<LookUpAnswer, 'tokens' | 'existing' | 'classes' | 'instances'>

type Cache<V> = Pick<BoundedCache<string, V>, 'get' | 'set'>

/** Keyed by address, so that two spellings of a symbol are one; classes and NFTs by their ID. */
interface Caches {
  readonly tokens: Cache<TokenFacts>
  readonly classes: Cache<ClassFacts>
  readonly accounts: Cache<true>
  readonly nfts: Cache<true>
}

/** The node's memory of facts, bounded. */
export function createFacts(rare: RarePaths): Facts {
  let caches = boundedCaches()
  return over(
    () => caches,
    (answer) => {
      if (rare.takes('facts_forgotten')) caches = boundedCaches()
      note(caches, answer)
    },
  )
}

/** F1: what the commands of one look-up know is kept with them; what `facts` knows now is copied when it is asked for. */
export function createFactsOfLookUp(facts: Facts): Facts {
  const own: Caches = { tokens: new Map(), classes: new Map(), accounts: new Map(), nfts: new Map() }
  const known = over(
    () => own,
    (answer) => note(own, answer),
  )
  return {
    note: known.note,
    token: (tokenId) => {
      const found = known.token(tokenId) ?? facts.token(tokenId)
      if (found !== undefined) own.tokens.set(actorKey(tokenAddress(tokenId)), found)
      return found
    },
    nftClass: (classId) => {
      const found = known.nftClass(classId) ?? facts.nftClass(classId)
      if (found !== undefined) own.classes.set(classId, found)
      return found
    },
    minted: (nftId) => {
      const found = known.minted(nftId) || facts.minted(nftId)
      if (found) own.nfts.set(nftId, true)
      return found
    },
    exists: (account) => {
      const found = known.exists(account) || facts.exists(account)
      if (found) own.accounts.set(addressOf(account), true)
      return found
    },
  }
}

function boundedCaches(): Caches {
  return {
    tokens: createBoundedCache(MAX_TOKENS),
    classes: createBoundedCache(MAX_CLASSES),
    accounts: createBoundedCache(MAX_ACCOUNTS),
    nfts: createBoundedCache(MAX_NFTS),
  }
}

function over(caches: () => Caches, noteAll: Facts['note']): Facts {
  return {
    token: (tokenId) => {
      const facts = caches().tokens.get(actorKey(tokenAddress(tokenId)))
      return facts?.tokenId === tokenId ? facts : undefined
    },
    nftClass: (classId) => caches().classes.get(classId),
    minted: (nftId) => caches().nfts.get(nftId) === true,
    exists: (account) => caches().accounts.get(addressOf(account)) === true,
    note: noteAll,
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
