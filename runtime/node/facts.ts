/**
 * Facts that never change, of any shard: that an account exists, what a token's decimals and issuer are. What is not
 * there yet is not remembered.
 */
import { addressOf, type AccountAddress } from '../ports/ledger-store.ts'
import { actorKey, tokenAddress } from '../../actors/address.ts'
import { type TokenFacts, tokenFactsOf } from '../../actors/token/state.ts'
import { createBoundedCache } from '../bounded-cache.ts'
import type { LookUpAnswer } from '../ports/ledger-store.ts'

const MAX_TOKENS = 10_000
const MAX_ACCOUNTS = 200_000

export interface Facts {
  readonly token: (tokenId: string) => TokenFacts | undefined
  readonly exists: (account: AccountAddress) => boolean
  /** Takes up what a look-up found. */
  readonly note: (answer: Pick<LookUpAnswer, 'tokens' | 'existing'>) => void
}

export function createFacts(): Facts {
  /** By address, so that two spellings of a symbol are one. */
  const tokens = createBoundedCache<string, TokenFacts>(MAX_TOKENS)
  const accounts = createBoundedCache<string, true>(MAX_ACCOUNTS)
  return {
    token: (tokenId) => {
      const facts = tokens.get(actorKey(tokenAddress(tokenId)))
      return facts?.tokenId === tokenId ? facts : undefined
    },
    exists: (account) => accounts.get(addressOf(account)) === true,
    note: (answer) => {
      for (const [key, state] of answer.tokens) {
        const facts = state.kind === 'token' ? tokenFactsOf(state) : undefined
        if (facts !== undefined) tokens.set(key, facts)
      }
      for (const address of answer.existing) accounts.set(address, true)
    },
  }
}
