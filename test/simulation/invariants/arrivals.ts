/**
 * Checks the rows of imports: each arrives completely or not at all, and equals the records that another ledger signed.
 *   A1. A record is taken only once all are held or existed before. In the end all records are taken once, or none.
 *   A2. The keys that an account used on its former ledger are known before it arrives, and have no effect.
 *   A3. An erased account stays erased.
 *   A4. A departure takes a frozen account's whole amount of an asset; an account that closes has nothing left.
 *   A5. An issuer's account is never unclaimed.
 */
import type { ActorAddress } from '../../../actors/address.ts'
import type { AccountState, ArrivalHold } from '../../../actors/account/state.ts'
import type { ActorState } from '../../../actors/actor-state.ts'
import type { ArrivedFrom } from '../../../actors/arrival.ts'
import type { ShardBatch } from '../../../runtime/ports/ledger-store.ts'
import { accountAddress, actorKey } from '../../support/reference-encoding.ts'
import { originIn, isHeld } from './arrived.ts'
import type { Demand } from './messages.ts'
import { isEqual } from './rows-equal.ts'
import type { ImportBook, SignedRecord } from '../reference/imports.ts'

type Place = 'held' | 'taken' | 'dropped'

export class ArrivalChecker {
  private readonly demand: Demand
  private readonly book: ImportBook
  /** The place of each record of each import. */
  private readonly places = new Map<string, Place>()
  /** Arrived records, by ledger, record and actor. */
  private readonly here = new Set<string>()
  private readonly noted = new Map<string, Set<string>>()
  private readonly issuers = new Set<string>()
  private readonly unclaimed = new Set<string>()

  constructor(demand: Demand, book: ImportBook) {
    this.demand = demand
    this.book = book
  }

  /** Call before the accounts of the same commit are checked. */
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

  /** Compares an account's import hold before and after with its entries. */
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
      this.demand(isWhole, `A1: ${accountId}: the held record differs from the signed one`)
      this.holds(actor, after.from)
    }
    for (const importId of taken) this.takesAccount(actor, importId)
    if (before === undefined || before.from.importId === after?.from.importId) return
    if (!taken.includes(before.from.importId)) this.move(actor, before.from.importId, 'dropped')
  }

  /** A5: tracks whether the account is claimed. */
  belongs({ accountId, registeredBy, status }: AccountState): void {
    if (registeredBy === '' && status !== 'erased') this.unclaimed.add(accountId)
    else this.unclaimed.delete(accountId)
    this.demandClaimedIssuer(accountId)
  }

  private demandClaimedIssuer(accountId: string): void {
    const isSafe = !this.issuers.has(accountId) || !this.unclaimed.has(accountId)
    this.demand(isSafe, `A5: ${accountId} is an issuer, and unclaimed`)
  }

  actor(actor: ActorAddress, before: ActorState | null, after: ActorState | null): void {
    if ((after?.kind === 'token' || after?.kind === 'class') && after.status === 'active') {
      this.issuers.add(after.issuer)
      this.demandClaimedIssuer(after.issuer)
    }
    const [was, is] = [originIn(before), originIn(after)]
    if (was === undefined && is === undefined) return
    const wasHeld = isHeld(before)
    if (wasHeld && was !== undefined && was.importId !== is?.importId) this.move(actor, was.importId, 'dropped')
    if (is === undefined) return
    if (isHeld(after)) {
      if (!wasHeld || was?.importId !== is.importId) {
        this.demand(
          this.signedOver(actor, is) !== undefined,
          `A1: ${actorKey(actor)}: the held record was not signed over`,
        )
        this.holds(actor, is)
      }
    } else if (wasHeld || was === undefined) this.takes(actor, is)
  }

  /** `lives`: whether the account exists. */
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

  private signedOver(actor: ActorAddress, { importId, recordHash, ledgerId }: ArrivedFrom): SignedRecord | undefined {
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
    if (record === undefined) return this.demand(false, `A1: ${actor.id} takes a record that was not signed over`)
    const noted = this.noted.get(`${importId} ${actor.id}`)
    const isKnown = [...this.book.hashesThere(importId, actor.id)].every((hash) => noted?.has(hash) === true)
    this.demand(isKnown, `A2: ${actor.id} is here, and its keys used elsewhere are unknown`)
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

  private isHere({ actor, from }: SignedRecord): boolean {
    return this.here.has(hereOf(actor, from))
  }
}

function isOnlyThere({ arrival }: SignedRecord): boolean {
  return arrival.kind === 'account' && arrival.account === null
}

function placeOf(importId: string, actor: ActorAddress): string {
  return `${importId} ${actorKey(actor)}`
}

function hereOf(actor: ActorAddress, { ledgerId, recordHash }: ArrivedFrom): string {
  return `${ledgerId} ${recordHash} ${actorKey(actor)}`
}
