/** Holds that a test has put there. */
import type { HoldView } from '../../../../actors/hold/state.ts'
import type { LedgerReads } from '../../../../runtime/ports/ledger-reads.ts'
import { pageOf } from './fake-nft-reads.ts'

export const HOLD_ID = 'hld_01K6ZZZZZZ0000000000000000'

/** Of alice, for bob. */
export function holdView(changes: Partial<HoldView> = {}): HoldView {
  return {
    holdId: HOLD_ID,
    status: 'active',
    accountId: 'alice',
    toAccountId: 'bob',
    tokenId: 'EUR.x',
    amount: '10.5',
    captured: '4',
    remaining: '6.5',
    metadata: { order: '7' },
    expiresAtMs: 1_760_000_900_000,
    createdAtMs: 1_760_000_000_000,
    endedAtMs: null,
    ...changes,
  }
}

/** `checked`: throws while the reads are to fail. */
export function fakeHoldReads(
  holdViews: ReadonlyMap<string, HoldView>,
  hasAccount: (accountId: string) => boolean,
  checked: <T>(value: T) => T,
): Pick<LedgerReads, 'hold' | 'holds'> {
  return {
    hold: async (holdId) => checked(holdViews.get(holdId)),
    async holds(accountId, status, after, limit) {
      if (!hasAccount(accountId)) return checked(undefined)
      const all = [...holdViews.values()].filter((hold) => hold.accountId === accountId && hold.status === status)
      const { shown, next } = pageOf(all, ({ holdId }) => holdId, after ?? '', limit)
      return checked({ holds: shown, next })
    },
  }
}
