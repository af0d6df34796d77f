/**
 * Facts that never change, of any shard: that an account exists, what a token's decimals and issuer are, who issues a class,
 * that an NFT was minted. What is not there yet is not remembered.
 */
import type { AssetEvidence } from '../../actors/account/submission.ts'
import { actorKey, tokenAddress } from '../../actors/address.ts'
import type { ClassFacts } from '../../actors/nft-class/state.ts'
import { type TokenFacts, tokenFactsOf } from '../../actors/token/state.ts'
import { createBoundedCache } from '../bounded-cache.ts'
import { addressOf, type AccountAddress, type LookUpAnswer } from '../ports/ledger-store.ts'

const MAX_TOKENS = 10_000
const MAX_CLASSES = 10_000
const MAX_ACCOUNTS = 200_000
const MAX_NFTS = 200_000

export interface Facts extends AssetEvidence {
  readonly exists: (account: AccountAddress) => boolean
  /** Takes up what a look-up found. */
  readonly note: (answer: Pick<LookUpAnswer, 'tokens' | 'existing' | 'classes' | 'instances'>) => void
}

export function createFacts(): Facts {
  /** By address, so that two spellings of a symbol are one. */
  const tokens = createBoundedCache<string, TokenFacts>(MAX_TOKENS)
  const classes = createBoundedCache<string, ClassFacts>(MAX_CLASSES)
  const accounts = createBoundedCache<string, true>(MAX_ACCOUNTS)
  const nfts = createBoundedCache<string, true>(MAX_NFTS)
  return {
    token: (tokenId) => {
      const facts = tokens.get(actorKey(tokenAddress(tokenId)))
      return facts?.tokenId === tokenId ? facts : undefined
    },
    nftClass: (classId) => classes.get(classId),
    minted: (nftId) => nfts.get(nftId) === true,
    exists: (account) => accounts.get(addressOf(account)) === true,
    note: (answer) => {
      for (const [key, state] of answer.tokens) {
        const facts = state.kind === 'token' ? tokenFactsOf(state) : undefined
        if (facts !== undefined) tokens.set(key, facts)
      }
      for (const [classId, facts] of answer.classes) classes.set(classId, facts)
      for (const address of answer.existing) accounts.set(address, true)
      for (const nftId of answer.instances) nfts.set(nftId, true)
    },
  }
}
