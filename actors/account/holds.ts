/**
 * The holds of an account, by `holdId`. A change, and each query below, costs the same for any number of holds.
 *   X1. The index lists hold IDs by name; a name without holds is not in it.
 */
import { Map as PersistentMap, Set as PersistentSet } from 'immutable'
import { MapView } from './map-view.ts'
import { type Hold, lacksSignature, type LegHold, type MintHold, type PaymentHold, type PendingHold } from './state.ts'

type Index = PersistentMap<string, PersistentSet<string>>

export class Holds extends MapView<Hold> {
  static readonly NONE = new Holds(PersistentMap(), PersistentMap(), 0, 0)

  /** Holds that count as pending transactions: those that needed a signature of the account. */
  readonly pending: number
  readonly mints: number
  private readonly index: Index

  private constructor(map: PersistentMap<string, Hold>, index: Index, pending: number, mints: number) {
    super(map)
    this.index = index
    this.pending = pending
    this.mints = mints
  }

  static of(entries: Iterable<readonly [id: string, hold: Hold]>): Holds {
    let holds = Holds.NONE
    for (const [id, hold] of entries) holds = holds.with(id, hold)
    return holds
  }

  with(id: string, hold: Hold): Holds {
    const before = this.map.get(id)
    return new Holds(
      this.map.set(id, hold),
      reindexed(this.index, id, before, hold),
      this.pending - pendingOf(before) + pendingOf(hold),
      this.mints - mintsOf(before) + mintsOf(hold),
    )
  }

  without(id: string): Holds {
    const before = this.map.get(id)
    if (before === undefined) return this
    if (this.map.size === 1) return Holds.NONE
    const index = reindexed(this.index, id, before, undefined)
    return new Holds(this.map.remove(id), index, this.pending - pendingOf(before), this.mints - mintsOf(before))
  }

  /** Legs of a registered group. */
  legsOf(groupId: string): readonly LegHold[] {
    return this.under(groupName(groupId)).flatMap((hold) => (hold.kind === 'leg' ? [hold] : []))
  }

  /** Number of unsigned legs of the account in groups that this client registered. */
  unsignedOf(clientId: string): number {
    return this.index.get(clientName(clientId))?.size ?? 0
  }

  mintOf(txnId: string): MintHold | undefined {
    const [hold] = this.under(mintName(txnId))
    return hold?.kind === 'mint' ? hold : undefined
  }

  /** The hold that is being created under this idempotency key. */
  openingOf(idempotencyKey: string): PaymentHold | undefined {
    const [hold] = this.under(openingName(idempotencyKey))
    return hold?.kind === 'payment' ? hold : undefined
  }

  /** Pending refunds of a transfer. */
  refundsOf(transferId: string): readonly PendingHold[] {
    return this.under(refundName(transferId)).flatMap((hold) => (hold.kind === 'pending' ? [hold] : []))
  }

  /** Whether a pending transaction undoes this one. */
  compensates(txnId: string): boolean {
    return this.index.has(compensationName(txnId))
  }

  private under(name: string): Hold[] {
    const ids = this.index.get(name)
    return ids === undefined ? [] : [...ids].flatMap((id) => this.map.get(id) ?? [])
  }
}

function pendingOf(hold: Hold | undefined): number {
  return hold === undefined || lacksSignature(hold) ? 0 : 1
}

function mintsOf(hold: Hold | undefined): number {
  return hold?.kind === 'mint' ? 1 : 0
}

const NO_NAMES: readonly string[] = []

function namesOf(hold: Hold | undefined): readonly string[] {
  switch (hold?.kind) {
    case 'leg':
      return lacksSignature(hold) ? [groupName(hold.groupId), clientName(hold.clientId)] : [groupName(hold.groupId)]
    case 'mint':
      return [mintName(hold.transaction.txnId)]
    case 'payment':
      return hold.opening === null ? NO_NAMES : [openingName(hold.opening.idempotencyKey)]
    case 'pending':
      return namesOfPending(hold)
    default:
      return NO_NAMES
  }
}

function namesOfPending({ transaction: { compensates, refunds } }: PendingHold): readonly string[] {
  if (refunds !== null) return [refundName(refunds)]
  return compensates === null ? NO_NAMES : [compensationName(compensates)]
}

function groupName(groupId: string): string {
  return `group ${groupId}`
}

function clientName(clientId: string): string {
  return `client ${clientId}`
}

function mintName(txnId: string): string {
  return `mint ${txnId}`
}

function openingName(idempotencyKey: string): string {
  return `opening ${idempotencyKey}`
}

function compensationName(txnId: string): string {
  return `compensates ${txnId}`
}

function refundName(transferId: string): string {
  return `refunds ${transferId}`
}

/** X1. `before`, `after`: the hold with this ID. */
function reindexed(index: Index, id: string, before: Hold | undefined, after: Hold | undefined): Index {
  const [old, now] = [namesOf(before), namesOf(after)]
  let next = index
  for (const name of old) if (!now.includes(name)) next = removed(next, name, id)
  for (const name of now) if (!old.includes(name)) next = next.set(name, (next.get(name) ?? PersistentSet()).add(id))
  return next
}

function removed(index: Index, name: string, id: string): Index {
  const ids = index.get(name)?.remove(id)
  return ids === undefined || ids.size === 0 ? index.remove(name) : index.set(name, ids)
}
