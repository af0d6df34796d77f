/**
 * Invariants of a ledger between any two steps:
 *   I4. Per asset: balances + value of holds + value of undelivered messages = supply + value that entered the ledger.
 *   A1. No amount is negative, and reserved <= balance.
 *   A2. Balance, incoming value and reserved room of an account have 18 integer digits at most.
 *   H1. Reserved value, incoming value and room of an account are the sums of its holds.
 *   C1. Its chain recomputes, entry by entry, and its tip is the last.
 */
import { type AccountState, type Hold, leavesBalance, NOTHING_HELD, valueOf } from '../../actors/account/state.ts'
import { type AuditEntry, chainHash, GENESIS } from '../../actors/audit-chain.ts'
import type { Envelope } from '../../actors/message.ts'
import { formatQuantity, LARGEST, parseQuantity, type Quantity, ZERO } from '../../actors/money.ts'
import type { NftEvent } from '../../actors/nft-instance/state.ts'
import { isNft } from '../../actors/nft-id.ts'
import type { AnyState } from '../../actors/step-actor.ts'

/** The counted ledger. */
export interface Counted {
  readonly states: ReadonlyMap<string, AnyState>
  readonly entries: ReadonlyMap<string, readonly AuditEntry[]>
  /** Credits less debits at the boundary, by token. */
  readonly boundary: ReadonlyMap<string, Quantity>
  /** By NFT. */
  readonly nftEvents: ReadonlyMap<string, readonly NftEvent[]>
  readonly accounts: () => readonly AccountState[]
  readonly undelivered: () => readonly Envelope[]
}

class Sums {
  readonly sums = new Map<string, Quantity>()

  add(key: string, quantity: Quantity): void {
    this.sums.set(key, this.of(key) + quantity)
  }

  of(key: string): Quantity {
    return this.sums.get(key) ?? ZERO
  }
}

class Miscounted extends Error {}

function demand(holds: boolean, what: () => string): void {
  if (!holds) throw new Miscounted(what())
}

export function countLedger(ledger: Counted): void {
  countValue(ledger)
  countNfts(ledger)
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
    if (state.kind !== 'token' || state.status === 'preparing') continue
    due.add(state.tokenId, parseQuantity(state.totalSupply))
  }
  for (const tokenId of new Set([...there.sums.keys(), ...due.sums.keys()])) {
    demand(
      there.of(tokenId) === due.of(tokenId),
      () =>
        `I4: there is ${formatQuantity(there.of(tokenId))} ${tokenId}, and ${formatQuantity(due.of(tokenId))} is due`,
    )
  }
}

/** I9: the owner follows from the history, entry by entry. */
function countNfts({ states, nftEvents }: Counted): void {
  for (const state of states.values()) {
    if (state.kind !== 'instance') continue
    const events = nftEvents.get(state.id) ?? []
    let owner: string | null = null
    let previous = GENESIS
    for (const [number, event] of events.entries()) {
      demand(event.number === number && event.from === owner, () => `I9: entry ${number} of ${state.id}`)
      demand((event.type === 'mint') === (number === 0), () => `I9: entry ${number} of ${state.id} is a ${event.type}`)
      demand(event.previousHash === previous, () => `I9: hash ${number} of ${state.id}`)
      demand(event.eventHash === chainHash(previous, event.payload), () => `I9: hash ${number} of ${state.id}`)
      previous = event.eventHash
      owner = event.to
    }
    demand(state.tip === previous && state.events === events.length, () => `I9: the tip of ${state.id}`)
    demand((state.status === 'minting') === (owner === null), () => `I9: ${state.id} is ${state.status}`)
    demand(owner === null || state.owner === owner, () => `I9: ${state.id} is said to be ${state.owner}'s`)
    demand((events.at(-1)?.type === 'burn') === (state.status === 'burned'), () => `I9: ${state.id} is burned`)
    demand((state.hold === null) === (state.status === 'active' || state.status === 'burned'), () => `O2: ${state.id}`)
  }
}

/** Invariants of an idle ledger: each account's counts match. */
export function countAtRest(ledger: Counted): void {
  const owned = new Map<string, number>()
  for (const state of ledger.states.values()) {
    if (state.kind !== 'instance') continue
    demand(state.status !== 'minting', () => `${state.id} is being minted for ever`)
    if (state.status !== 'burned') owned.set(state.owner, (owned.get(state.owner) ?? 0) + 1)
  }
  for (const { accountId, nftCount } of ledger.accounts()) {
    demand(nftCount === (owned.get(accountId) ?? 0), () => `I9: ${accountId} counts ${nftCount} NFTs`)
  }
}

/** A1, A2, H1. */
function countAccount({ accountId, balances, holds, nftCount, nftRoom }: AccountState): void {
  const promised = [...holds.values()].filter(promisesNft).length
  demand(nftCount + nftRoom >= 0, () => `A1: ${nftCount} NFTs of ${accountId}`)
  demand(nftRoom === promised, () => `H1: room for ${nftRoom} NFTs, ${promised} promised to ${accountId}`)
  const reserved = new Sums()
  const incoming = new Sums()
  const room = new Sums()
  for (const hold of holds.values()) addHold(hold, { reserved, incoming, room })
  for (const tokenId of new Set([...balances.keys(), ...reserved.sums.keys(), ...incoming.sums.keys()])) {
    const held = balances.get(tokenId) ?? NOTHING_HELD
    const at = `${tokenId} of ${accountId}`
    demand(held.balance >= held.reserved && held.reserved >= 0n, () => `A1: ${at}`)
    demand(held.incoming >= 0n && held.room >= 0n, () => `A1: ${at}`)
    demand(held.balance + held.incoming + held.room <= LARGEST, () => `A2: ${at}`)
    demand(held.reserved === reserved.of(tokenId), () => `H1: ${formatQuantity(held.reserved)} reserved, ${at}`)
    demand(held.incoming === incoming.of(tokenId), () => `H1: ${formatQuantity(held.incoming)} incoming, ${at}`)
    demand(held.room === room.of(tokenId), () => `H1: room for ${formatQuantity(held.room)}, ${at}`)
  }
}

interface Parts {
  readonly reserved: Sums
  readonly incoming: Sums
  readonly room: Sums
}

/** Whether a place is reserved for an NFT. */
function promisesNft(hold: Hold): boolean {
  if (hold.kind === 'leg') return isNft(hold.terms.tokenId) && hold.role === 'receiver' && hold.state === 'completed'
  return hold.kind === 'pending' && hold.room !== null && isNft(hold.room.tokenId)
}

function addHold(hold: Hold, { reserved, incoming, room }: Parts): void {
  switch (hold.kind) {
    case 'mint':
      return
    case 'arrival':
      for (const [tokenId, balance] of Object.entries(hold.account.balances)) room.add(tokenId, parseQuantity(balance))
      return
    case 'issue':
      room.add(hold.tokenId, parseQuantity(hold.totalSupply))
      return
    case 'payment':
      reserved.add(hold.tokenId, parseQuantity(hold.remaining))
      return
    case 'pending': {
      const { transaction } = hold
      if (hold.reserves) reserved.add(transaction.tokenId, parseQuantity(transaction.amount))
      if (hold.room !== null && !isNft(hold.room.tokenId)) room.add(hold.room.tokenId, parseQuantity(hold.room.amount))
      return
    }
    case 'leg': {
      const { role, terms, state } = hold
      const amount = parseQuantity(terms.amount)
      const comes = role === 'receiver' || terms.type === 'credit' || terms.type === 'mint'
      if (state !== 'completed' || isNft(terms.tokenId)) return
      if (comes) incoming.add(terms.tokenId, amount)
      else (leavesBalance(terms) ? room : reserved).add(terms.tokenId, amount)
    }
  }
}

/** C1. */
function checkChain(ledger: Counted, { accountId, tip, sequence }: AccountState): void {
  const entries = ledger.entries.get(accountId)
  // An account that a test added has no earlier entries.
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
