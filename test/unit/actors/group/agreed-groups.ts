/** Groups that everybody has agreed to, and what is on its way between their members, one message after another. */
import { expect } from 'vitest'
import type { Terms } from '../../../../actors/group/terms.ts'
import { agree, GROUP, groupSeen, type LegFields, termsOf } from '../../../model/mini-clients.ts'
import type { MiniLedger } from '../../../model/mini-ledger.ts'

/** Legs that net to zero, and one that moves as much by itself. */
export const OUT = { account_id: 'ann', type: 'debit', amount: '4' }
export const IN = { account_id: 'bob', type: 'credit', amount: '4' }
export const ACROSS = { account_id: 'ann', type: 'transfer', amount: '4', to_account_id: 'bob' }

/** Registers a group of these legs. */
export function agreed(ledger: MiniLedger, ...legs: readonly LegFields[]): Terms {
  const terms = termsOf(legs)
  const answer = agree(ledger, terms)
  if (answer.kind !== 'group_registered') throw new Error(JSON.stringify(answer))
  return terms
}

export function expectNoHolds(ledger: MiniLedger): void {
  for (const { holds } of ledger.accounts()) expect(holds.size).toBe(0)
}

/** Delivers these, from one to another, and nothing else. */
export function deliver(ledger: MiniLedger, ...ways: readonly (readonly [string, string])[]): void {
  for (const [from, to] of ways) {
    if (!ledger.deliverFrom(from, to)) throw new Error(`Nothing is on its way from ${from} to ${to}.`)
  }
}

/** The partial failures of the group. */
export function failures(ledger: MiniLedger): readonly (readonly [string, string])[] {
  return (groupSeen(ledger, GROUP)?.partialFailures ?? []).map(({ txnId, code }) => [txnId, code])
}
