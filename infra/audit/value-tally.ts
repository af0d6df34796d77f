/** What there is of each asset, less what came into being of it; and rows that could not be counted. */
import { Quantity } from '../../actors/money.ts'

export interface ValueTally {
  /** There is so much of it. Throws for what is no number, but counts NaN, which never adds up. */
  readonly add: (tokenId: string, quantity: Quantity | string) => void
  /** So much came into being. Throws as `add`. */
  readonly take: (tokenId: string, quantity: Quantity | string) => void
  readonly unread: (place: string, problem: string) => void
  /** How many assets there are. */
  readonly assets: () => number
  /** Place and problem of what does not add up or could not be read; at most NAMED of each are named. */
  readonly wrong: () => readonly (readonly [place: string, problem: string])[]
}

const NAMED = 100
const ZERO = new Quantity(0)

export function createValueTally(): ValueTally {
  const sums = new Map<string, Quantity>()
  const unread: (readonly [string, string])[] = []
  let more = 0
  return {
    add: (tokenId, quantity) => void sums.set(tokenId, (sums.get(tokenId) ?? ZERO).plus(quantity)),
    take: (tokenId, quantity) => void sums.set(tokenId, (sums.get(tokenId) ?? ZERO).minus(quantity)),
    unread: (place, problem) => {
      if (unread.length < NAMED) unread.push([place, problem])
      else more += 1
    },
    assets: () => sums.size,
    wrong: () => {
      const assets = [...sums].filter(([, sum]) => !sum.isZero()).map(([tokenId]) => tokenId)
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
