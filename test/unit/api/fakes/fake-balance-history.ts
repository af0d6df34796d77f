/** Reads of balances at a time and of movements, from lists that a test fills. */
import type { BalanceAt, LedgerReads, Movement } from '../../../../runtime/ports/ledger-reads.ts'

export interface FakeHistory {
  /** By account, oldest first. */
  readonly balancesStated: Map<string, BalanceAt[]>
  /** By account and token ID, as `ann BASE`, oldest first. */
  readonly movementsOf: Map<string, Movement[]>
}

type HistoryReads = Pick<LedgerReads, 'balancesAt' | 'balanceAt' | 'movements'>

export function emptyHistory(): FakeHistory {
  return { balancesStated: new Map(), movementsOf: new Map() }
}

export function fakeHistoryReads(
  { balancesStated, movementsOf }: FakeHistory,
  hasAccount: (accountId: string) => boolean,
  checked: <T>(value: T) => T,
): HistoryReads {
  const at = (accountId: string, atMs: number): ReadonlyMap<string, BalanceAt> => {
    const stated = (balancesStated.get(accountId) ?? []).filter(({ updatedAtMs }) => updatedAtMs <= atMs)
    return new Map(stated.map((balance) => [balance.tokenId, balance]))
  }
  return {
    async balancesAt(accountId, atMs, after, limit) {
      if (!hasAccount(accountId)) return checked(undefined)
      const all = [...at(accountId, atMs).values()].filter(({ tokenId }) => tokenId > (after ?? ''))
      const balances = all.toSorted((one, other) => (one.tokenId < other.tokenId ? -1 : 1)).slice(0, limit)
      return checked({ balances, next: all.length > limit ? (balances.at(-1)?.tokenId ?? null) : null })
    },
    balanceAt: async (accountId, tokenId, atMs) =>
      checked(hasAccount(accountId) ? (at(accountId, atMs).get(tokenId) ?? null) : undefined),
    async movements({ accountId, tokenId, fromMs, toMs, after, limit }) {
      if (!hasAccount(accountId)) return checked(undefined)
      const all = movementsOf.get(`${accountId} ${tokenId}`) ?? []
      const isBehind = ({ atMs, sequence }: Movement): boolean =>
        after === null ? atMs >= (fromMs ?? 0) : sequence > after.sequence
      const ahead = all.filter((movement) => movement.atMs < toMs && isBehind(movement))
      const movements = ahead.slice(0, limit)
      const before = all.filter((movement) => !isBehind(movement)).at(-1)
      const last = movements.at(-1) ?? before
      const endOf = (movement: Movement | undefined) => ({
        balance: movement?.balanceAfter ?? '0',
        sequence: movement?.sequence ?? null,
      })
      const next = ahead.length > limit && last !== undefined ? { atMs: last.atMs, sequence: last.sequence } : null
      return checked({ opening: endOf(before), movements, closing: endOf(last), next })
    },
  }
}
