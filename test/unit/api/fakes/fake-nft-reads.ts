/** Reads of NFTs from maps that a test fills. */
import type { ClassView } from '../../../../actors/nft-class/state.ts'
import { nftId } from '../../../../actors/nft-id.ts'
import type { InstanceView, NftEvent } from '../../../../actors/nft-instance/state.ts'
import type { LedgerReads, OwnedNft } from '../../../../runtime/ports/ledger-reads.ts'

export interface FakeNfts {
  /** By class ID. */
  readonly classViews: Map<string, ClassView>
  /** By `class/instance`. */
  readonly instanceViews: Map<string, InstanceView>
  /** By account, in order. An existing account without an entry owns none. */
  readonly ownedNftViews: Map<string, readonly OwnedNft[]>
  /** By `class/instance`, oldest first. */
  readonly nftHistories: Map<string, readonly NftEvent[]>
}

export function emptyNfts(): FakeNfts {
  return { classViews: new Map(), instanceViews: new Map(), ownedNftViews: new Map(), nftHistories: new Map() }
}

type NftReads = Pick<LedgerReads, 'nftClass' | 'nftClasses' | 'instance' | 'instances' | 'ownedNfts' | 'nftHistory'>

/** `checked`: called with every result. */
export function fakeNftReads(
  fake: FakeNfts,
  accountExists: (accountId: string) => boolean,
  checked: <T>(answer: T) => T,
): NftReads {
  return {
    nftClass: async (classId) => checked(fake.classViews.get(classId)),
    async nftClasses(after, limit) {
      const all = [...fake.classViews.values()]
      const { shown, next } = pageOf(all, ({ classId }) => classId, after ?? '', limit)
      return checked({ classes: shown, next, count: after === null ? { total: all.length, exact: true } : null })
    },
    instance: async (classId, instanceId) => checked(fake.instanceViews.get(nftId({ classId, instanceId }))),
    async instances(classId, after, limit) {
      if (!fake.classViews.has(classId)) return checked(undefined)
      const all = [...fake.instanceViews.values()].filter((view) => view.classId === classId)
      const { shown, next } = pageOf(all, ({ instanceId }) => instanceId, after ?? '', limit)
      return checked({ instances: shown, next })
    },
    async ownedNfts(accountId, after, limit) {
      if (!accountExists(accountId)) return checked(undefined)
      const { shown, next } = pageOf(fake.ownedNftViews.get(accountId) ?? [], nftId, after ?? '', limit)
      return checked({ nfts: shown, next })
    },
    async nftHistory(classId, instanceId, afterNumber, limit) {
      const events = fake.nftHistories.get(nftId({ classId, instanceId }))
      if (events === undefined) return checked(undefined)
      const { shown, next } = pageOf(events, ({ number }) => number, afterNumber, limit)
      return checked({ events: shown, next })
    },
  }
}

export function pageOf<T, Key extends string | number>(
  all: readonly T[],
  keyOf: (item: T) => Key,
  after: Key,
  limit: number,
): { readonly shown: readonly T[]; readonly next: Key | null } {
  const rest = all
    .filter((item) => keyOf(item) > after)
    .toSorted((left, right) => (keyOf(left) < keyOf(right) ? -1 : 1))
  const shown = rest.slice(0, limit)
  const last = shown.at(-1)
  return { shown, next: rest.length > limit && last !== undefined ? keyOf(last) : null }
}
