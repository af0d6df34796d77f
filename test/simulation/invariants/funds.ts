/**
 * Computes an account's balances from two independent sources: completed transactions and open holds (I4, I5).
 *   The balance is the sum of the completed transactions.
 *   The reserved, incoming and kept-free amounts are exactly those of the holds.
 */
import type { Balance, Hold, LegHold } from '../../../actors/account/state.ts'
import type { TransactionRecord } from '../../../actors/account/transaction.ts'
import type { Demand } from './messages.ts'
import { isNftAsset, unitsOf } from '../reference/fields.ts'
import { type Funds, type Holdings, LARGEST, NO_FUNDS } from '../reference/funds.ts'
import type { Rows } from '../store/rows.ts'

/** Legs that take their amount out of the balance when they are applied; a burn and an NFT are only held. */
const LEAVING: ReadonlySet<string> = new Set(['debit', 'transfer', 'exchange'])

type Moved = Pick<TransactionRecord, 'type' | 'amount' | 'holdId' | 'fromAccountId'>
type Owed = { -readonly [Part in 'reserved' | 'incoming' | 'room']: bigint }

export class FundsChecker {
  private readonly demand: Demand
  private readonly rows: Rows
  /** By address and asset. */
  private readonly values = new Map<string, bigint>()
  /** Rows are replaced, never changed. */
  private readonly read = new WeakMap<Balance, Funds>()

  constructor(demand: Demand, rows: Rows) {
    this.demand = demand
    this.rows = rows
  }

  holdsOf(at: string): readonly Hold[] {
    return [...(this.rows.holds.get(at)?.values() ?? [])]
  }

  /** The holds that keep an account from closing: all except the legs that only other clients expect of it. */
  bindingOf(at: string, registeredBy: string): readonly Hold[] {
    return this.holdsOf(at).filter((hold) => !isStrangers(hold, registeredBy))
  }

  legsOf(at: string): readonly LegHold[] {
    return this.holdsOf(at).filter((hold) => hold.kind === 'leg')
  }

  /** The number of open holds of all accounts. */
  open(): number {
    let sum = 0
    for (const ofAccount of this.rows.holds.values()) sum += ofAccount.size
    return sum
  }

  /** The accounts that hold an open leg of the group. */
  legHolders(groupId: string): readonly string[] {
    return [...this.rows.holds.keys()].filter((at) => this.legsOf(at).some((leg) => leg.groupId === groupId))
  }

  /** The value of an asset according to completed transactions, including burns in open groups. */
  valueOf(at: string, tokenId: string): bigint {
    return this.values.get(`${at} ${tokenId}`) ?? 0n
  }

  completed(at: string, transaction: Moved & Pick<TransactionRecord, 'tokenId' | 'receive'>): void {
    const { tokenId, receive } = transaction
    if (!isNftAsset(tokenId)) this.add(at, tokenId, movedBy(transaction))
    if (receive !== null && !isNftAsset(receive.tokenId)) this.add(at, receive.tokenId, unitsOf(receive.amount))
  }

  /** Adds value that arrived from another ledger. */
  arrived(at: string, tokenId: string, units: bigint): void {
    this.add(at, tokenId, units)
  }

  /** The account's holdings according to the rows. */
  holdingsOf(at: string): Holdings {
    const holdings = new Map<string, Funds>()
    for (const [tokenId, row] of this.rows.balances.get(at) ?? []) holdings.set(tokenId, this.fundsOf(row))
    return holdings
  }

  private fundsOf(row: Balance): Funds {
    const known = this.read.get(row)
    if (known !== undefined) return known
    const { balance, reserved, incoming, room } = row
    const funds = { balance, reserved, incoming, room }
    this.read.set(row, funds)
    return funds
  }

  check(at: string, holdings: Holdings): void {
    const owed = this.owed(at)
    for (const tokenId of new Set([...holdings.keys(), ...owed.keys()])) {
      const { balance, reserved, incoming, room } = holdings.get(tokenId) ?? NO_FUNDS
      const expected = owed.get(tokenId) ?? NO_FUNDS
      this.demand(
        balance >= 0n && reserved >= 0n && incoming >= 0n && room >= 0n && balance >= reserved,
        `I5: ${at}: of ${tokenId} ${balance}, ${reserved} reserved, ${incoming} incoming, ${room} kept free`,
      )
      this.demand(balance + incoming + room <= LARGEST, `I5: ${at}: more of ${tokenId} than 18 digits`)
      this.demand(
        reserved === expected.reserved && incoming === expected.incoming && room === expected.room,
        `I5: ${at}: of ${tokenId} ${reserved}, ${incoming}, ${room} are reserved, incoming and kept free; ` +
          `its holds say ${expected.reserved}, ${expected.incoming}, ${expected.room}`,
      )
      const value = balance + incoming - this.burning(at, tokenId)
      const completed = this.valueOf(at, tokenId)
      this.demand(value === completed, `I4: ${at}: has ${value} of ${tokenId}, its transactions say ${completed}`)
    }
  }

  /** Reserved by burns of open groups: completed, and still in the balance. */
  burning(at: string, tokenId: string): bigint {
    let sum = 0n
    for (const { role, state, terms } of this.legsOf(at)) {
      if (role === 'own' && state === 'completed' && terms.type === 'burn' && terms.tokenId === tokenId) {
        sum += unitsOf(terms.amount)
      }
    }
    return sum
  }

  private owed(at: string): ReadonlyMap<string, Owed> {
    const owed = new Map<string, Owed>()
    const add = (tokenId: string, part: keyof Owed, amount: string): void => {
      if (isNftAsset(tokenId)) return
      const sums = owed.get(tokenId) ?? { reserved: 0n, incoming: 0n, room: 0n }
      owed.set(tokenId, sums)
      sums[part] += unitsOf(amount)
    }
    for (const hold of this.holdsOf(at)) {
      if (hold.kind === 'issue') add(hold.tokenId, 'room', hold.totalSupply)
      else if (hold.kind === 'arrival') {
        for (const [tokenId, amount] of Object.entries(hold.account.balances)) add(tokenId, 'room', amount)
      } else if (hold.kind === 'leg') addLeg(hold, add)
      else if (hold.kind === 'payment') add(hold.tokenId, 'reserved', hold.remaining)
      else if (hold.kind === 'pending') {
        if (hold.reserves) add(hold.transaction.tokenId, 'reserved', hold.transaction.amount)
        if (hold.room !== null) add(hold.room.tokenId, 'room', hold.room.amount)
      }
    }
    return owed
  }

  private add(at: string, tokenId: string, units: bigint): void {
    this.values.set(`${at} ${tokenId}`, this.valueOf(at, tokenId) + units)
  }
}

/** A leg counts once its account has signed, or its sender's value is on hold: as incoming, room or reserved. */
function addLeg({ role, state, terms }: LegHold, add: (tokenId: string, part: keyof Owed, amount: string) => void) {
  const { type, tokenId, amount } = terms
  const comes = role === 'receiver' || type === 'credit' || type === 'mint'
  if (state !== 'completed') return
  if (comes) add(tokenId, 'incoming', amount)
  else if (!isNftAsset(tokenId) && LEAVING.has(type)) add(tokenId, 'room', amount)
  else add(tokenId, 'reserved', amount)
}

function isStrangers(hold: Hold, registeredBy: string): boolean {
  if (hold.kind !== 'leg' || hold.clientId === registeredBy) return false
  return hold.state === 'expected' || hold.state === 'declined'
}

/** The amount that a completed transaction adds to its account, in its own asset. */
export function movedBy({ type, amount, holdId, fromAccountId }: Moved): bigint {
  const isCapture = holdId !== undefined && fromAccountId !== null
  return type === 'credit' || type === 'mint' || isCapture ? unitsOf(amount) : -unitsOf(amount)
}
