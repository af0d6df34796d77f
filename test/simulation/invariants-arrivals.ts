/**
 * Imports as the rows tell of them: each is here whole or not at all, and what comes is what another ledger signed over.
 *   A1. Nothing of an import is taken before all of it is held or was here; in the end all of it is taken, or nothing; once.
 *   A2. What an account used where it comes from is known before it is here, and has no effect.
 *   A3. What was erased stays erased.
 *   A4. What leaves is all that a frozen account has of it, and what closes has nothing more.
 *   A5. In whose name something was issued is never nobody's, for whoever comes first.
 */
import type { ActorAddress } from '../../actors/address.ts'
import type { AccountState, ArrivalHold } from '../../actors/account/state.ts'
import type { ActorState } from '../../actors/actor-state.ts'
import type { ArrivedFrom } from '../../actors/arrival.ts'
import type { ShardBatch } from '../../runtime/ports/ledger-store.ts'
import { accountAddress, actorKey } from '../support/reference-encoding.ts'
import { arrivedIn, isHeld } from './invariants-arrived.ts'
import type { Demand } from './invariants-messages.ts'
import { isEqual } from './invariants-rows-equal.ts'
import type { ImportBook, SignedOver } from './reference-imports.ts'

type Place = 'held' | 'taken' | 'dropped'

export class ArrivalChecker {
  private readonly demand: Demand
  private readonly book: ImportBook
  /** Where each record of each import is. */
  private readonly places = new Map<string, Place>()
  /** What is here, by ledger, record and actor. */
  private readonly here = new Set<string>()
  private readonly noted = new Map<string, Set<string>>()
  private readonly issuers = new Set<string>()
  private readonly nobodys = new Set<string>()

  constructor(demand: Demand, book: ImportBook) {
    this.demand = demand
    this.book = book
  }

  /** Before the accounts of the same commit. */
  commit({ operations }: ShardBatch, holderOf: (accountId: string) => ArrivalHold | undefined): void {
    for (const { accountId, operation, idempotencyKey } of operations) {
      if (operation !== 'elsewhere') continue
      const importId = holderOf(accountId)?.from.importId ?? ''
      const isTrue = this.book.hashesThere(importId, accountId).has(idempotencyKey)
      this.demand(isTrue, `A2: ${accountId}: a key is noted that it did not use, or is not held`)
      const at = `${importId} ${accountId}`
      this.noted.set(at, (this.noted.get(at) ?? new Set<string>()).add(idempotencyKey))
    }
  }

  /** Of an account: what it held before and holds now, and what its entries say that it has taken meanwhile. */
  account(
    accountId: string,
    before: ArrivalHold | undefined,
    after: ArrivalHold | undefined,
    taken: readonly string[],
  ): void {
    const actor = accountAddress(accountId)
    if (after !== undefined && before?.from.importId !== after.from.importId) {
      const { arrival } = this.signedOver(actor, after.from) ?? {}
      const isWhole = arrival?.kind === 'account' && isEqual(arrival.account, after.account)
      this.demand(isWhole, `A1: ${accountId}: what is held is not what was signed over`)
      this.holds(actor, after.from)
    }
    for (const importId of taken) this.takesAccount(actor, importId)
    if (before === undefined || before.from.importId === after?.from.importId) return
    if (!taken.includes(before.from.importId)) this.move(actor, before.from.importId, 'dropped')
  }

  /** A5. Of an account as it is written. */
  belongs({ accountId, registeredBy, status }: AccountState): void {
    if (registeredBy === '' && status !== 'erased') this.nobodys.add(accountId)
    else this.nobodys.delete(accountId)
    this.isSomebodys(accountId)
  }

  private isSomebodys(accountId: string): void {
    const isSafe = !this.issuers.has(accountId) || !this.nobodys.has(accountId)
    this.demand(isSafe, `A5: ${accountId} is an issuer, and nobody's`)
  }

  actor(actor: ActorAddress, before: ActorState | null, after: ActorState | null): void {
    if ((after?.kind === 'token' || after?.kind === 'class') && after.status === 'active') {
      this.issuers.add(after.issuer)
      this.isSomebodys(after.issuer)
    }
    const [was, is] = [arrivedIn(before), arrivedIn(after)]
    if (was === undefined && is === undefined) return
    const wasHeld = isHeld(before)
    if (wasHeld && was !== undefined && was.importId !== is?.importId) this.move(actor, was.importId, 'dropped')
    if (is === undefined) return
    if (isHeld(after)) {
      if (!wasHeld || was?.importId !== is.importId) {
        this.demand(this.signedOver(actor, is) !== undefined, `A1: ${actorKey(actor)}: nobody signed over what is held`)
        this.holds(actor, is)
      }
    } else if (wasHeld || was === undefined) this.takes(actor, is)
  }

  /** `lives`: whether the account is there. */
  atEnd(lives: (accountId: string) => boolean): void {
    for (const { importId, records, status } of this.book.imports.values()) {
      for (const record of records) {
        const place = this.places.get(placeOf(importId, record.actor))
        const name = `A1: ${actorKey(record.actor)} of an import that was ${status}`
        this.demand(place !== 'held', `${name} is held for ever`)
        if (status !== 'taking') this.demand(place !== 'taken', `${name} is taken`)
        else if (isOnlyThere(record)) this.demand(lives(record.actor.id), `${name} is not there`)
        else this.demand(place === 'taken' || this.isHere(record), `${name} is not taken`)
      }
    }
  }

  private signedOver(actor: ActorAddress, { importId, recordHash, ledgerId }: ArrivedFrom): SignedOver | undefined {
    const record = this.book.recordOf(importId, actor)
    return record?.from.recordHash === recordHash && record.from.ledgerId === ledgerId ? record : undefined
  }

  private holds(actor: ActorAddress, { importId }: ArrivedFrom): void {
    const before = this.places.get(placeOf(importId, actor))
    this.demand(before !== 'taken', `A1: ${actorKey(actor)} is held, and was taken`)
    this.places.set(placeOf(importId, actor), 'held')
  }

  private takesAccount(actor: ActorAddress, importId: string): void {
    const record = this.book.recordOf(importId, actor)
    if (record === undefined) return this.demand(false, `A1: ${actor.id} takes what nobody signed over`)
    const noted = this.noted.get(`${importId} ${actor.id}`)
    const isKnown = [...this.book.hashesThere(importId, actor.id)].every((hash) => noted?.has(hash) === true)
    this.demand(isKnown, `A2: ${actor.id} is here, and what it used elsewhere is not known`)
    this.takes(actor, record.from)
  }

  private takes(actor: ActorAddress, from: ArrivedFrom): void {
    this.move(actor, from.importId, 'taken')
    this.here.add(hereOf(actor, from))
    for (const record of this.book.imports.get(from.importId)?.records ?? []) {
      const place = this.places.get(placeOf(from.importId, record.actor))
      const isThere = place === 'held' || place === 'taken' || isOnlyThere(record) || this.isHere(record)
      this.demand(isThere, `A1: ${actorKey(actor)} is taken, and ${actorKey(record.actor)} is not held`)
    }
  }

  private move(actor: ActorAddress, importId: string, to: 'taken' | 'dropped'): void {
    const at = placeOf(importId, actor)
    const from = this.places.get(at)
    this.demand(from === 'held', `A1: ${actorKey(actor)} is ${to}, and was ${from ?? 'never held'}`)
    this.places.set(at, to)
  }

  private isHere({ actor, from }: SignedOver): boolean {
    return this.here.has(hereOf(actor, from))
  }
}

function isOnlyThere({ arrival }: SignedOver): boolean {
  return arrival.kind === 'account' && arrival.account === null
}

function placeOf(importId: string, actor: ActorAddress): string {
  return `${importId} ${actorKey(actor)}`
}

function hereOf(actor: ActorAddress, { ledgerId, recordHash }: ArrivedFrom): string {
  return `${ledgerId} ${recordHash} ${actorKey(actor)}`
}
