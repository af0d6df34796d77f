/**
 * Follows the balances of one account through the entries of its chain, per fungible asset.
 *   K1. An entry states the balance and the incoming value that follow from the entries before it and its own amounts.
 *   K2. The entry of a leg leaves the balance as it is, until a settlement of the same transaction, asset, type and amount,
 *       or the compensation that undoes the leg. Each ends one open leg.
 *   K3. Entries of format 1 do not tell legs from other transactions, and their settlements have no entries. An asset with
 *       such an entry of a group keeps a looser rule: balance plus incoming is the sum of all amounts, plus at most the
 *       burns of legs.
 */
import type { Json, JsonObject } from '../../actors/canonical-json.ts'
import { formatQuantity, isDecimalString, parseQuantity, type Quantity, ZERO } from '../../actors/money.ts'

/** Quantities are decimal strings. `balance`: null under K3. `burns`: of legs, under K3 alone. */
export interface StoredBooks {
  readonly assets: readonly (readonly [tokenId: string, sum: string, balance: string | null, burns: string])[]
  readonly legs: readonly (readonly [txnId: string, tokenId: string, type: string, amount: string])[]
}

/** `sum`: balance plus incoming less pending burns of legs. */
interface Asset {
  readonly sum: Quantity
  readonly balance: Quantity | null
  readonly burns: Quantity
}

/** A completed leg whose group has neither settled nor reverted. */
interface OpenLeg {
  readonly tokenId: string
  readonly type: string
  readonly amount: Quantity
}

/** The open legs of an asset. */
interface Unsettled {
  readonly incoming: Quantity
  readonly burns: Quantity
}

/** An entry states these; undefined: not a quantity. */
interface Stated {
  readonly balance: Quantity | undefined
  readonly available: Quantity | undefined
  readonly incoming: Quantity | undefined
}

const EMPTY: Asset = { sum: ZERO, balance: ZERO, burns: ZERO }
/** Types of transactions that bring value in; a transfer does so only as a capture, at the hold's beneficiary. */
const COMES: ReadonlySet<Json> = new Set<Json>(['credit', 'mint'])
const DISAGREES = 'its balance does not follow from the entries up to it'

export const NO_BOOKS: StoredBooks = { assets: [], legs: [] }

export class Books {
  private readonly assets: Map<string, Asset>
  private readonly legs: Map<string, OpenLeg>

  constructor({ assets, legs }: StoredBooks = NO_BOOKS) {
    this.assets = new Map(
      assets.map(([tokenId, sum, balance, burns]) => [
        tokenId,
        {
          sum: parseQuantity(sum),
          balance: balance === null ? null : parseQuantity(balance),
          burns: parseQuantity(burns),
        },
      ]),
    )
    this.legs = new Map(
      legs.map(([txnId, tokenId, type, amount]) => [txnId, { tokenId, type, amount: parseQuantity(amount) }]),
    )
  }

  tokens(): Iterable<string> {
    return this.assets.keys()
  }

  stored(): StoredBooks {
    return {
      assets: [...this.assets].map(([tokenId, { sum, balance, burns }]) => [
        tokenId,
        formatQuantity(sum),
        balance === null ? null : formatQuantity(balance),
        formatQuantity(burns),
      ]),
      legs: [...this.legs].map(([txnId, { tokenId, type, amount }]) => [txnId, tokenId, type, formatQuantity(amount)]),
    }
  }

  /** Whether the account's balance after the last entry is that of the books. `burns`: of its completed legs. */
  agree(tokenId: string, balance: Quantity, { incoming, burns }: Unsettled): boolean {
    const asset = this.assetOf(tokenId)
    if (balance + incoming - burns !== asset.sum) return false
    return asset.balance === null || (balance === asset.balance && incoming === this.unsettled(tokenId).incoming)
  }

  /** Enters a transaction. Returns the problem of its entry, if any. */
  enter(members: JsonObject): string | undefined {
    const amount = quantityIn(members, 'amount')
    if (amount === undefined) return 'its amount is no quantity'
    const received = this.receive(members)
    if (received !== undefined) return received
    const { token_id: tokenId, type } = members
    // NFTs have no token ID; their own actors keep them.
    if (typeof tokenId !== 'string' || typeof type !== 'string') return undefined
    const stated = statedBy(members, members[isFirstFormat(members) ? 'balance' : 'balance_after'], members['incoming'])
    const { sum, balance, burns } = this.assetOf(tokenId)
    const moved = COMES.has(type) || isCapture(members) ? amount : -amount
    const isInGroup = members['group_id'] !== null
    if (balance === null || (isFirstFormat(members) && isInGroup)) {
      const pending = isInGroup && type === 'burn' ? amount : ZERO
      this.assets.set(tokenId, { sum: sum + moved, balance: null, burns: burns + pending })
    } else {
      const waits = this.undoes(members, amount) || this.opensLeg(members, { tokenId, type, amount }, stated)
      this.assets.set(tokenId, { sum: sum + moved, balance: waits ? balance : balance + moved, burns })
    }
    return this.problem(tokenId, stated)
  }

  /** Enters the settlement of a leg. Returns the problem of its entry, if any. */
  settle(members: JsonObject): string | undefined {
    const { token_id: tokenId, type, settles } = members
    const amount = quantityIn(members, 'amount')
    if (typeof tokenId !== 'string' || typeof settles !== 'string' || amount === undefined) {
      return 'it settles no quantity of an asset'
    }
    const { sum, balance, burns } = this.assetOf(tokenId)
    if (balance === null) {
      this.assets.set(tokenId, { sum, balance, burns: type === 'burn' ? burns - amount : burns })
    } else {
      const leg = this.legs.get(settles)
      if (leg?.tokenId !== tokenId || leg.type !== type || leg.amount !== amount) return 'it settles no such leg'
      this.legs.delete(settles)
      this.assets.set(tokenId, { sum, balance: type === 'burn' ? balance - amount : balance + amount, burns })
    }
    return this.problem(tokenId, statedBy(members, members['balance_after'], members['incoming']))
  }

  /** Compares an entry that moves no value. Returns the problem of the entry, if any. */
  state(members: JsonObject): string | undefined {
    const { token_id: tokenId } = members
    if (typeof tokenId !== 'string') return 'it names no asset'
    return this.problem(tokenId, statedBy(members, members['balance_after'], members['incoming']))
  }

  /** Enters the balances of an imported account. Returns their problem, if any. */
  arrive(balances: Json | undefined): string | undefined {
    if (balances === undefined || balances === null || typeof balances !== 'object' || Array.isArray(balances)) {
      return 'its imported balances are not a list'
    }
    const members = balances as JsonObject
    for (const tokenId of Object.keys(members)) {
      const amount = quantityIn(members, tokenId)
      if (amount === undefined) return 'an imported balance is not a quantity'
      this.add(tokenId, amount)
    }
    return undefined
  }

  private assetOf(tokenId: string): Asset {
    return this.assets.get(tokenId) ?? EMPTY
  }

  private add(tokenId: string, amount: Quantity): void {
    const { sum, balance, burns } = this.assetOf(tokenId)
    this.assets.set(tokenId, { sum: sum + amount, balance: balance === null ? null : balance + amount, burns })
  }

  /** The asset that an exchange brought. */
  private receive(members: JsonObject): string | undefined {
    const { receive } = members
    if (receive === undefined) return undefined
    const side = receive as JsonObject
    const amount = quantityIn(side, 'amount')
    if (amount === undefined) return 'its received amount is not a quantity'
    const { token_id: tokenId } = side
    if (typeof tokenId !== 'string') return undefined
    this.add(tokenId, amount)
    const balance = isFirstFormat(members) ? members['received_balance'] : side['balance_after']
    const available = isFirstFormat(members) ? balance : side['available_after']
    return this.problem(
      tokenId,
      statedBy({ available_after: available ?? null }, balance, members['received_incoming']),
    )
  }

  /** K2: a compensation ends the leg that it names. */
  private undoes({ compensates, token_id: tokenId }: JsonObject, amount: Quantity): boolean {
    if (typeof compensates !== 'string') return false
    const leg = this.legs.get(compensates)
    if (leg?.tokenId !== tokenId || leg?.amount !== amount) return false
    return this.legs.delete(compensates)
  }

  /** K2. A transaction of a linked group has the same members as a leg, and changes the balance at once. */
  private opensLeg({ txn_id: txnId, group_id: groupId }: JsonObject, leg: OpenLeg, { balance }: Stated): boolean {
    const canWait = COMES.has(leg.type) || leg.type === 'burn'
    if (groupId === null || typeof txnId !== 'string' || !canWait) return false
    if (balance !== this.assetOf(leg.tokenId).balance) return false
    this.legs.set(txnId, leg)
    return true
  }

  private unsettled(tokenId: string): Unsettled {
    let [incoming, burns] = [ZERO, ZERO]
    for (const leg of this.legs.values()) {
      if (leg.tokenId !== tokenId) continue
      if (leg.type === 'burn') burns += leg.amount
      else incoming += leg.amount
    }
    return { incoming, burns }
  }

  /** K1, K3. */
  private problem(tokenId: string, { balance, available, incoming }: Stated): string | undefined {
    if (balance === undefined || incoming === undefined || available === undefined) return 'its balance is no quantity'
    const asset = this.assetOf(tokenId)
    const open = this.unsettled(tokenId)
    if (asset.balance === null) {
      const more = balance + incoming - asset.sum
      if (more < 0n || more > asset.burns) return DISAGREES
    } else if (balance !== asset.balance || incoming !== open.incoming) return DISAGREES
    return available > balance - open.burns ? 'more is available than its balance' : undefined
  }
}

/** `balance`, `incoming`: the members of the asset in question. Format 1 states no available balance. */
function statedBy(members: JsonObject, balance: Json | undefined, incoming: Json | undefined): Stated {
  return {
    balance: quantityOf(balance),
    available: isFirstFormat(members) ? ZERO : quantityOf(members['available_after']),
    incoming: incoming === undefined ? ZERO : quantityOf(incoming),
  }
}

/** The beneficiary's side of a capture names the payer. */
function isCapture({ type, hold_id: holdId, from_account_id: payer }: JsonObject): boolean {
  return type === 'transfer' && holdId !== undefined && payer !== undefined
}

function isFirstFormat({ format }: JsonObject): boolean {
  return format === 1
}

function quantityIn(members: JsonObject, name: string): Quantity | undefined {
  return quantityOf(members[name])
}

function quantityOf(value: Json | undefined): Quantity | undefined {
  return typeof value === 'string' && isDecimalString(value) ? parseQuantity(value) : undefined
}
