/** Groups that everybody has agreed to, and what is on its way between their members, one message after another. */
import { expect } from 'vitest'
import type { Terms } from '../../../../actors/group/terms.ts'
import { GROUP, type LegFields, termsOf, type World } from '../../../model/mini-clients.ts'

/** Legs that net to zero, and one that moves as much by itself. */
export const OUT = { account_id: 'ann', type: 'debit', amount: '4' }
export const IN = { account_id: 'bob', type: 'credit', amount: '4' }
export const ACROSS = { account_id: 'ann', type: 'transfer', amount: '4', to_account_id: 'bob' }

/** Registers a group of these legs. */
export function agreed(ledger: World, ...legs: readonly LegFields[]): Terms {
  const terms = termsOf(legs)
  const answer = ledger.agree(terms)
  if (answer.kind !== 'group_registered') throw new Error(JSON.stringify(answer))
  return terms
}

export function expectNoHolds(ledger: World): void {
  for (const { holds } of ledger.accounts()) expect(holds.size).toBe(0)
}

/** Delivers these, from one to another, and nothing else. */
export function deliver(ledger: World, ...ways: readonly (readonly [string, string])[]): void {
  for (const [from, to] of ways) {
    if (!ledger.deliverFrom(from, to)) throw new Error(`Nothing is on its way from ${from} to ${to}.`)
  }
}

/** The partial failures of the group. */
export function failures(ledger: World): readonly (readonly [string, string])[] {
  return (ledger.groupSeen(GROUP)?.partialFailures ?? []).map(({ txnId, code }) => [txnId, code])
}
