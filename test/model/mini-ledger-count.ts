/**
 * What must be true of a ledger between any two steps:
 *   I4. Per asset: balances + value of holds + what undelivered messages carry = supply + what came over the boundary.
 *   A1. Nothing is negative, and nobody has reserved more than is there.
 *   A2. What an account holds, is promised and keeps room for has 18 integer digits at most.
 *   H1. What is reserved, incoming and kept free at an account is what its holds say.
 *   C1. Its chain recomputes, entry by entry, and its tip is the last.
 */
import { type AccountState, type Hold, leavesBalance, NOTHING_HELD, valueOf } from '../../actors/account/state.ts'
import { type AuditEntry, chainHash, GENESIS } from '../../actors/audit-chain.ts'
import type { Envelope } from '../../actors/message.ts'
import { LARGEST, parseQuantity, type Quantity, ZERO } from '../../actors/money.ts'
import type { AnyState } from '../../actors/step-actor.ts'

/** What is counted. */
export interface Counted {
  readonly states: ReadonlyMap<string, AnyState>
  readonly entries: ReadonlyMap<string, readonly AuditEntry[]>
  /** Credits less debits at the boundary, by token. */
  readonly boundary: ReadonlyMap<string, Quantity>
  readonly accounts: () => readonly AccountState[]
  readonly undelivered: () => readonly Envelope[]
}

class Sums {
  readonly sums = new Map<string, Quantity>()

  add(key: string, quantity: Quantity): void {
    this.sums.set(key, this.of(key).plus(quantity))
  }

  of(key: string): Quantity {
    return this.sums.get(key) ?? ZERO
  }
}

export class Miscounted extends Error {}

function demand(holds: boolean, what: () => string): void {
  if (!holds) throw new Miscounted(what())
}

export function countLedger(ledger: Counted): void {
  countValue(ledger)
  for (const account of ledger.accounts()) {
    countAccount(account)
    checkChain(ledger, account)
  }
}

/** I4. */
function countValue(ledger: Counted): void {
  const there = new Sums()
  const due = new Sums()
  for (const { balances, holds } of ledger.accounts()) {
    for (const [tokenId, { balance }] of balances) there.add(tokenId, balance)
    for (const hold of holds.values()) {
      const value = valueOf(hold)
      if (value !== undefined) there.add(value.tokenId, value.quantity)
    }
  }
  for (const { carries } of ledger.undelivered()) {
    for (const { tokenId, quantity } of carries) there.add(tokenId, parseQuantity(quantity))
  }
  for (const [tokenId, quantity] of ledger.boundary) due.add(tokenId, quantity)
  for (const state of ledger.states.values()) {
    if (!('kind' in state) || state.kind !== 'token' || state.status === 'preparing') continue
    due.add(state.tokenId, parseQuantity(state.totalSupply))
  }
  for (const tokenId of new Set([...there.sums.keys(), ...due.sums.keys()])) {
    demand(
      there.of(tokenId).equals(due.of(tokenId)),
      () => `I4: there is ${there.of(tokenId).toFixed()} ${tokenId}, and ${due.of(tokenId).toFixed()} is due`,
    )
  }
}

/** A1, A2, H1. */
function countAccount({ accountId, balances, holds }: AccountState): void {
  const reserved = new Sums()
  const incoming = new Sums()
  const room = new Sums()
  for (const hold of holds.values()) addHold(hold, { reserved, incoming, room })
  for (const tokenId of new Set([...balances.keys(), ...reserved.sums.keys(), ...incoming.sums.keys()])) {
    const held = balances.get(tokenId) ?? NOTHING_HELD
    const at = `${tokenId} of ${accountId}`
    demand(!held.balance.minus(held.reserved).isNegative() && !held.reserved.isNegative(), () => `A1: ${at}`)
    demand(!held.incoming.isNegative() && !held.room.isNegative(), () => `A1: ${at}`)
    demand(!held.balance.plus(held.incoming).plus(held.room).greaterThan(LARGEST), () => `A2: ${at}`)
    demand(held.reserved.equals(reserved.of(tokenId)), () => `H1: ${held.reserved.toFixed()} reserved, ${at}`)
    demand(held.incoming.equals(incoming.of(tokenId)), () => `H1: ${held.incoming.toFixed()} incoming, ${at}`)
    demand(held.room.equals(room.of(tokenId)), () => `H1: room for ${held.room.toFixed()}, ${at}`)
  }
}

interface Parts {
  readonly reserved: Sums
  readonly incoming: Sums
  readonly room: Sums
}

function addHold(hold: Hold, { reserved, incoming, room }: Parts): void {
  switch (hold.kind) {
    case 'issue':
      room.add(hold.tokenId, parseQuantity(hold.totalSupply))
      return
    case 'pending': {
      const { transaction } = hold
      if (hold.reserves) reserved.add(transaction.tokenId, parseQuantity(transaction.amount))
      if (hold.room !== null) room.add(hold.room.tokenId, parseQuantity(hold.room.amount))
      return
    }
    case 'leg': {
      const { role, terms, state } = hold
      const amount = parseQuantity(terms.amount)
      const comes = role === 'receiver' || terms.type === 'credit' || terms.type === 'mint'
      if (state === 'failed') return
      if (comes) (state === 'expected' ? room : incoming).add(terms.tokenId, amount)
      else if (state === 'completed') (leavesBalance(terms) ? room : reserved).add(terms.tokenId, amount)
    }
  }
}

/** C1. */
function checkChain(ledger: Counted, { accountId, tip, sequence }: AccountState): void {
  const entries = ledger.entries.get(accountId)
  // One that was put there has no past.
  if (entries === undefined) return
  let previous = GENESIS
  for (const [index, entry] of entries.entries()) {
    demand(entry.sequence === index && entry.previousHash === previous, () => `C1: entry ${index} of ${accountId}`)
    if (index === entries.length - 1) {
      demand(entry.auditHash === chainHash(previous, entry.payload), () => `C1: hash ${index} of ${accountId}`)
    }
    previous = entry.auditHash
  }
  demand(previous === tip && entries.length - 1 === sequence, () => `C1: the tip of ${accountId}`)
}
