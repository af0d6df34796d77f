/**
 * The balances of an account, by token ID. A change costs the same for any number of balances. Token IDs that share a
 * hash are searched linearly; their number is at most the asset limit of an account.
 */
import { Map as PersistentMap } from 'immutable'
import { MapView } from './map-view.ts'
import type { Balance } from './state.ts'

export class Balances extends MapView<Balance> {
  static readonly NONE = new Balances(PersistentMap(), 0)

  /** Assets that count against the limit: those once held, and those with reserved room. */
  readonly slots: number

  private constructor(map: PersistentMap<string, Balance>, slots: number) {
    super(map)
    this.slots = slots
  }

  static of(entries: Iterable<readonly [tokenId: string, balance: Balance]>): Balances {
    const map = PersistentMap<string, Balance>().withMutations((mutable) => {
      for (const [tokenId, balance] of entries) mutable.set(tokenId, balance)
    })
    let slots = 0
    for (const balance of map.values()) slots += slotsOf(balance)
    return map.size === 0 ? Balances.NONE : new Balances(map, slots)
  }

  with(tokenId: string, balance: Balance): Balances {
    const slots = this.slots - slotsOf(this.map.get(tokenId)) + slotsOf(balance)
    return new Balances(this.map.set(tokenId, balance), slots)
  }
}

export function isSlot({ updatedAtMs, room }: Balance): boolean {
  return updatedAtMs > 0 || room !== 0n
}

function slotsOf(balance: Balance | undefined): number {
  return balance !== undefined && isSlot(balance) ? 1 : 0
}
