/**
 * Sums the entries of one account's chain per fungible asset. The sum is balance plus incoming less pending burns of legs.
 *   K1. Only a transaction's amount, an exchange's receive side and an arrival change the sum. A settlement does not: it
 *       turns incoming value into balance, and burns what the leg's entry has already subtracted.
 *   K2. The balance plus incoming of an entry is therefore this sum, plus at most the pending burns at that time.
 */
import type { Json, JsonObject } from '../../actors/canonical-json.ts'
import { formatQuantity, isDecimalString, parseQuantity, type Quantity, ZERO } from '../../actors/money.ts'

/** Decimal strings. `burns`: completed and pending burns of legs. */
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

  /** Adds a transaction's entry. Returns its problem, if any. */
  enter(members: JsonObject): string | undefined {
    const { token_id: tokenId, type } = members
    const amount = quantityIn(members, 'amount')
    if (amount === undefined) return 'its amount is no quantity'
    const received = this.receive(members['receive'])
    if (received !== undefined) return received
    // NFTs have no token ID; their own actors keep them.
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

  /** Adds the balances of an imported account. Returns their problem, if any. */
  arrive(balances: Json | undefined): string | undefined {
    if (balances === undefined || balances === null || typeof balances !== 'object' || Array.isArray(balances)) {
      return 'its imported balances are not a list'
    }
    const members = balances as JsonObject
    for (const tokenId of Object.keys(members)) {
      const amount = quantityIn(members, tokenId)
      if (amount === undefined) return 'an imported balance is not a quantity'
      const before = this.assets.get(tokenId) ?? EMPTY
      this.assets.set(tokenId, { ...before, sum: before.sum + amount })
    }
    return undefined
  }

  /** Checks the balance of a settlement's entry. Returns its problem, if any. */
  settle(members: JsonObject): string | undefined {
    const { token_id: tokenId, type } = members
    const amount = quantityIn(members, 'amount')
    if (typeof tokenId !== 'string' || amount === undefined) return 'it settles no quantity of an asset'
    const { sum, burns } = this.assets.get(tokenId) ?? EMPTY
    const next: Asset = { sum, burns: type === 'burn' ? burns - amount : burns }
    this.assets.set(tokenId, next)
    return disagreement(members, next)
  }

  private receive(side: Json | undefined): string | undefined {
    if (side === undefined) return undefined
    const members = side as JsonObject
    const amount = quantityIn(members, 'amount')
    if (amount === undefined) return 'its received amount is not a quantity'
    const tokenId = members['token_id']
    if (typeof tokenId !== 'string') return undefined
    const before = this.assets.get(tokenId) ?? EMPTY
    this.assets.set(tokenId, { ...before, sum: before.sum + amount })
    return undefined
  }
}

/** K2. */
function disagreement(members: JsonObject, { sum, burns }: Asset): string | undefined {
  const isFirstFormat = members['format'] === 1
  const balance = quantityIn(members, isFirstFormat ? 'balance' : 'balance_after')
  const available = isFirstFormat ? ZERO : quantityIn(members, 'available_after')
  const incoming = members['incoming'] === undefined ? ZERO : quantityIn(members, 'incoming')
  if (balance === undefined || incoming === undefined || available === undefined) return 'its balance is no quantity'
  if (available > balance) return 'more is available than its balance'
  const more = balance + incoming - sum
  return more < 0n || more > burns ? 'its balance does not follow from the entries up to it' : undefined
}

function quantityIn(members: JsonObject, name: string): Quantity | undefined {
  const value = members[name]
  return typeof value === 'string' && isDecimalString(value) ? parseQuantity(value) : undefined
}
