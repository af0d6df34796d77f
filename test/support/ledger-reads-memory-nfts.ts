/** NFT classes and instances for reads without a database: whole arrays, filtered and sorted for each answer. */
import type { ActorState } from '../../actors/actor-state.ts'
import { classFactsOf, type ClassState, classViewOf } from '../../actors/nft-class/state.ts'
import { nftId, nftNameOf } from '../../actors/nft-id.ts'
import { type InstanceState, instanceViewOf } from '../../actors/nft-instance/state.ts'
import {
  type ClassesPage,
  type InstancesPage,
  type LedgerReads,
  type NftHistoryPage,
  type OwnedNftsPage,
  ReadsUnavailable,
} from '../../runtime/ports/ledger-reads.ts'
import type { NftEventWrite } from '../../runtime/ports/ledger-store.ts'

export interface NftRows {
  readonly accounts: ReadonlyMap<string, unknown>
  readonly actors: ReadonlyMap<string, ActorState>
  readonly nftEvents: readonly NftEventWrite[]
}

export type NftReads = Pick<
  LedgerReads,
  'nftClass' | 'nftClasses' | 'instance' | 'instances' | 'ownedNfts' | 'nftHistory'
>

export function nftReadsOf(rows: NftRows): NftReads {
  return {
    nftClass: async (classId) => {
      const found = classOf(rows, classId)
      return found === undefined ? undefined : classViewOf(found)
    },
    nftClasses: async (after, limit) => classesPage(rows, after, limit),
    instance: async (classId, instanceId) => {
      const found = minted(rows).find(({ id }) => id === nftId({ classId, instanceId }))
      return found === undefined ? undefined : instanceViewOf(found)
    },
    instances: async (classId, after, limit) => instancesPage(rows, classId, after, limit),
    ownedNfts: async (accountId, after, limit) => ownedPage(rows, accountId, after, limit),
    nftHistory: async (classId, instanceId, afterNumber, limit) =>
      historyPage(rows, nftId({ classId, instanceId }), afterNumber, limit),
  }
}

function registered({ actors }: NftRows): readonly ClassState[] {
  const classes = [...actors.values()].filter((state): state is ClassState => state.kind === 'class')
  return sorted(
    classes.filter((state) => classFactsOf(state) !== undefined),
    ({ classId }) => classId,
  )
}

function classOf(rows: NftRows, classId: string): ClassState | undefined {
  return registered(rows).find((state) => state.classId === classId)
}

function minted({ actors }: NftRows): readonly InstanceState[] {
  const instances = [...actors.values()].filter((state): state is InstanceState => state.kind === 'instance')
  return sorted(
    instances.filter(({ status }) => status !== 'minting'),
    ({ id }) => id,
  )
}

function classesPage(rows: NftRows, after: string | null, limit: number): ClassesPage {
  const all = registered(rows)
  const { shown, next } = cut(
    all.filter(({ classId }) => classId > (after ?? '')),
    limit,
  )
  return {
    classes: shown.map(classViewOf),
    next: next?.classId ?? null,
    count: after === null ? { total: all.length, exact: true } : null,
  }
}

function instancesPage(rows: NftRows, classId: string, after: string | null, limit: number): InstancesPage | undefined {
  if (classOf(rows, classId) === undefined) return undefined
  const following = minted(rows).flatMap((state) => {
    const view = instanceViewOf(state)
    return view?.classId === classId && view.instanceId > (after ?? '') ? [view] : []
  })
  const { shown, next } = cut(following, limit)
  return { instances: shown, next: next?.instanceId ?? null }
}

function ownedPage(rows: NftRows, accountId: string, after: string | null, limit: number): OwnedNftsPage | undefined {
  if (!rows.accounts.has(accountId)) return undefined
  const owned = minted(rows).filter(
    ({ id, owner, status }) => owner === accountId && status !== 'burned' && id > (after ?? ''),
  )
  const { shown, next } = cut(owned, limit)
  const nfts = shown.flatMap((state) => {
    const view = instanceViewOf(state)
    const { classId = '' } = nftNameOf(state.id) ?? {}
    const className = classOf(rows, classId)?.name
    if (className === undefined) throw new ReadsUnavailable('An NFT is of a class that is not registered.')
    return view === undefined ? [] : [{ ...view, className, acquiredAtMs: state.acquiredAtMs }]
  })
  return { nfts, next: next?.id ?? null }
}

function historyPage(rows: NftRows, id: string, afterNumber: number, limit: number): NftHistoryPage | undefined {
  if (!minted(rows).some((state) => state.id === id)) return undefined
  const following = rows.nftEvents
    .filter((write) => write.nftId === id && write.event.number > afterNumber)
    .map(({ event }) => event)
    .sort((left, right) => left.number - right.number)
  const { shown, next } = cut(following, limit)
  return { events: shown, next: next?.number ?? null }
}

/** `next`: the last one shown, where others follow. */
function cut<T>(
  following: readonly T[],
  limit: number,
): { readonly shown: readonly T[]; readonly next: T | undefined } {
  const shown = following.slice(0, limit)
  return { shown, next: following.length > limit ? shown.at(-1) : undefined }
}

/** By code units. */
function sorted<T>(items: readonly T[], key: (item: T) => string): readonly T[] {
  return items.toSorted((left, right) => (key(left) < key(right) ? -1 : 1))
}
