/**
 * Checks the rows of NFTs (I9): each is minted once and has one owner or is burned, and its history gives the same
 * owner. At rest each account counts its own NFTs correctly.
 */
import type { ClassState } from '../../../actors/nft-class/state.ts'
import type { InstanceState, NftEvent } from '../../../actors/nft-instance/state.ts'
import type { AccountState } from '../../../actors/account/state.ts'
import type { NftEventWrite } from '../../../runtime/ports/ledger-store.ts'
import { chainHash, GENESIS } from '../../support/reference-encoding.ts'
import type { Demand } from './messages.ts'

type Status = InstanceState['status'] | 'absent'

/** The possible next states, over the steps that one commit can contain. */
const NEXT: Readonly<Record<Status, readonly Status[]>> = {
  absent: ['minting', 'absent'],
  minting: ['minting', 'absent', 'active', 'held'],
  active: ['active', 'held', 'burned'],
  held: ['held', 'active', 'burned'],
  burned: ['burned'],
}

export class NftChecker {
  private readonly demand: Demand
  private readonly now: () => number
  private readonly histories = new Map<string, NftEvent[]>()
  private readonly minted = new Map<string, number>()
  private readonly classes = new Map<string, { readonly fromMs: number; readonly issuer: string }>()
  private readonly states = new Map<string, InstanceState>()

  constructor(demand: Demand, now: () => number) {
    this.demand = demand
    this.now = now
  }

  nftClass(classId: string): { readonly fromMs: number; readonly issuer: string } | undefined {
    return this.classes.get(classId)
  }

  mintedSince(nftId: string): number | undefined {
    return this.minted.get(nftId)
  }

  registered(state: ClassState | null): void {
    if (state?.status !== 'active' || this.classes.has(state.classId)) return
    this.classes.set(state.classId, { fromMs: this.now(), issuer: state.issuer })
  }

  /** Call before the instances of the same commit are checked. */
  events(writes: readonly NftEventWrite[]): void {
    for (const { nftId, event } of writes) {
      const history = this.histories.get(nftId) ?? []
      const before = history.at(-1)
      this.demand(event.number === history.length, `I9: entry ${event.number} of ${nftId} after ${history.length}`)
      this.demand(event.from === (before?.to ?? null), `I9: ${nftId} goes from ${event.from}, and is ${before?.to}'s`)
      this.demand(
        (event.type === 'mint') === (before === undefined),
        `I9: ${nftId}: a ${event.type} as its ${event.number}`,
      )
      this.demand(before?.type !== 'burn', `I9: ${nftId} is burned, and goes on`)
      const previous = before?.eventHash ?? GENESIS
      const chained = event.previousHash === previous && event.eventHash === chainHash(previous, event.payload)
      this.demand(chained, `I9: entry ${event.number} of ${nftId} does not continue its history`)
      this.histories.set(nftId, [...history, event])
    }
  }

  instance(key: string, before: InstanceState | null, after: InstanceState | null): void {
    const was = before?.status ?? 'absent'
    const is = after?.status ?? 'absent'
    // A refused mint is removed, and another may begin within the same commit.
    const anew = was === 'minting' && is === 'minting'
    this.demand(anew || NEXT[was].includes(is), `I9: ${key} was ${was} and is ${is}`)
    if (after === null) return
    this.states.set(after.id, after)
    const history = this.histories.get(after.id) ?? []
    const last = history.at(-1)
    this.demand((is === 'minting') === (last === undefined), `I9: ${key} is ${is} with ${history.length} entries`)
    if (last === undefined) return
    this.minted.set(after.id, this.minted.get(after.id) ?? this.now())
    const same = after.owner === last.to && after.tip === last.eventHash && after.events === history.length
    this.demand(same, `I9: ${key} names ${after.owner} as owner, and its history ${last.to}`)
    this.demand((is === 'burned') === (last.type === 'burn'), `I9: ${key} is ${is} after a ${last.type}`)
    const held = is === 'held'
    this.demand(held === (after.hold !== null), `I9: ${key} is ${is}, held for ${after.hold?.txnId}`)
  }

  /** At rest each account's count equals the NFTs that it owns. */
  atEnd(accounts: Iterable<AccountState>): void {
    const owned = new Map<string, number>()
    for (const { owner, status } of this.states.values()) {
      if (status === 'active' || status === 'held') owned.set(owner, (owned.get(owner) ?? 0) + 1)
    }
    for (const { accountId, nftCount, nftRoom } of accounts) {
      const own = owned.get(accountId) ?? 0
      this.demand(
        nftCount === own && nftRoom === 0,
        `I9: ${accountId} owns ${own} NFTs, and counts ${nftCount} + ${nftRoom}`,
      )
    }
  }
}
