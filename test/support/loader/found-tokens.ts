/** The tokens of a load, and the accounts that issue them: the first ones. */
import { accountAddress, tokenAddress } from '../../../actors/address.ts'
import { canonicalJson } from '../../../actors/canonical-json.ts'
import { AccountStamps, type LifeOptions, openAccount, submitAll } from './account-life.ts'
import type { Drafting } from './drafting.ts'

export function foundTokens(drafting: Drafting, life: LifeOptions): void {
  const { plan, span, random } = life
  for (const [number, { issuer }] of plan.tokens.entries()) {
    openAccount(drafting, number, drafting.stampAt(accountAddress(issuer), span.startMs), life)
  }
  for (const { tokenId, decimals, issuer, totalSupply } of plan.tokens) {
    const payload = canonicalJson({ decimals, issuer, symbol: tokenId, total_supply: totalSupply })
    const address = tokenAddress(tokenId)
    const stamp = drafting.stampAt(address, span.startMs)
    drafting.request(address, { kind: 'register_token', payload, signature: null, registrationKey: null }, stamp)
  }
  drafting.settle(span.startMs)
  for (const [number, { issuer }] of plan.tokens.entries()) {
    const stamps = new AccountStamps(drafting.homeOf(accountAddress(issuer)), random, span.startMs)
    submitAll(drafting, number, stamps, life)
  }
}
