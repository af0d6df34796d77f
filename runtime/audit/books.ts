/**
 * Sums over the entries of one account's chain, per fungible asset: its balance and what is incoming, less what its
 * legs are about to burn.
 *   K1. An entry moves this sum by its amount, and by what an exchange brought; an arrival by what it brought; nothing else moves it: settling makes
 *       balance of what is incoming, and lets go of what a leg burns when its entry has long counted it.
 *   K2. So what an entry says the account has is this sum, or more by what its legs were about to burn at the time.
 */
import type { Json, JsonObject } from '../../actors/canonical-json.ts'
import { formatQuantity, isDecimalString, parseQuantity, type Quantity, ZERO } from '../../actors/money.ts'

/** Decimal strings: token, sum, and what legs have burned or were to burn. */
export type StoredBooks = readonly (readonly [tokenId: string, sum: string, burns: string])[]

interface Asset {
  readonly sum: Quantity
  readonly burns: Quantity
}

const EMPTY: Asset = { sum: ZERO, burns: ZERO }
const COMES: ReadonlySet<Json> = new Set<Json>(['credit', 'mint'])

export class Books {
  private readonly assets: Map<string, Asset>

  constructor(stored: StoredBooks = []) {
    this.assets = new Map(
      stored.map(([tokenId, sum, burns]) => [tokenId, { sum: parseQuantity(sum), burns: parseQuantity(burns) }]),
    )
  }

  tokens(): Iterable<string> {
    return this.assets.keys()
  }

  sumOf(tokenId: string): Quantity {
    return (this.assets.get(tokenId) ?? EMPTY).sum
  }

  stored(): StoredBooks {
    return [...this.assets].map(([tokenId, { sum, burns }]) => [tokenId, formatQuantity(sum), formatQuantity(burns)])
  }

  /** Takes a transaction's entry in. What is wrong with it; undefined when nothing is. */
  enter(members: JsonObject): string | undefined {
    const { token_id: tokenId, type } = members
    const amount = quantityIn(members, 'amount')
    if (amount === undefined) return 'its amount is no quantity'
    const received = this.receive(members['receive'])
    if (received !== undefined) return received
    // An NFT has no token ID: its own home keeps it.
    if (typeof tokenId !== 'string') return undefined
    const { sum, burns } = this.assets.get(tokenId) ?? EMPTY
    const isLegBurn = type === 'burn' && members['group_id'] !== null
    const next: Asset = {
      sum: COMES.has(type ?? null) ? sum + amount : sum - amount,
      burns: isLegBurn ? burns + amount : burns,
    }
    this.assets.set(tokenId, next)
    return disagreement(members, next)
  }

  /** Takes in what an account brought from another ledger. What is wrong with it; undefined when nothing is. */
  arrive(balances: Json | undefined): string | undefined {
    if (balances === undefined || balances === null || typeof balances !== 'object' || Array.isArray(balances)) {
      return 'what it brought is no list of balances'
    }
    const members = balances as JsonObject
    for (const tokenId of Object.keys(members)) {
      const amount = quantityIn(members, tokenId)
      if (amount === undefined) return 'what it brought is no quantity'
      const before = this.assets.get(tokenId) ?? EMPTY
      this.assets.set(tokenId, { ...before, sum: before.sum + amount })
    }
    return undefined
  }

  private receive(side: Json | undefined): string | undefined {
    if (side === undefined) return undefined
    const members = side as JsonObject
    const amount = quantityIn(members, 'amount')
    if (amount === undefined) return 'what it brought is no quantity'
    const tokenId = members['token_id']
    if (typeof tokenId !== 'string') return undefined
    const before = this.assets.get(tokenId) ?? EMPTY
    this.assets.set(tokenId, { ...before, sum: before.sum + amount })
    return undefined
  }
}

/** K2. */
function disagreement(members: JsonObject, { sum, burns }: Asset): string | undefined {
  const balance = quantityIn(members, 'balance')
  const incoming = members['incoming'] === undefined ? ZERO : quantityIn(members, 'incoming')
  if (balance === undefined || incoming === undefined) return 'its balance is no quantity'
  const more = balance + incoming - sum
  return more < 0n || more > burns ? 'its balance does not follow from the entries up to it' : undefined
}

function quantityIn(members: JsonObject, name: string): Quantity | undefined {
  const value = members[name]
  return typeof value === 'string' && isDecimalString(value) ? parseQuantity(value) : undefined
}
