/** Sums the value of each asset less its supply, and collects unreadable rows. */
import { parseQuantity, type Quantity, ZERO } from '../../actors/money.ts'

export interface ValueTally {
  /** Adds existing value. Throws for a malformed quantity. */
  readonly add: (tokenId: string, quantity: Quantity | string) => void
  /** Subtracts supply or external credits. Throws for a malformed quantity. */
  readonly take: (tokenId: string, quantity: Quantity | string) => void
  readonly unread: (place: string, problem: string) => void
  /** Number of assets. */
  readonly assets: () => number
  /** Place and problem of unbalanced assets and unreadable rows; at most NAMED of each. */
  readonly wrong: () => readonly (readonly [place: string, problem: string])[]
}

const NAMED = 100

export function createValueTally(): ValueTally {
  const sums = new Map<string, Quantity>()
  const unread: (readonly [string, string])[] = []
  let more = 0
  return {
    add: (tokenId, quantity) => void sums.set(tokenId, (sums.get(tokenId) ?? ZERO) + quantityOf(quantity)),
    take: (tokenId, quantity) => void sums.set(tokenId, (sums.get(tokenId) ?? ZERO) - quantityOf(quantity)),
    unread: (place, problem) => {
      if (unread.length < NAMED) unread.push([place, problem])
      else more += 1
    },
    assets: () => sums.size,
    wrong: () => {
      const assets = [...sums].filter(([, sum]) => sum !== 0n).map(([tokenId]) => tokenId)
      return [
        ...assets
          .sort()
          .slice(0, NAMED)
          .map((tokenId) => [`asset ${tokenId}`, 'what there is of it is not what came into being'] as const),
        ...unread,
        ...(more === 0 ? [] : [['the whole ledger', `${more} more rows cannot be read`] as const]),
      ]
    },
  }
}

function quantityOf(given: Quantity | string): Quantity {
  return typeof given === 'string' ? parseQuantity(given) : given
}
