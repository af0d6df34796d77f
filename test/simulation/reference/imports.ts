/**
 * The records that other ledgers signed over in a run, and the orders for them: the truth that arrivals are checked
 * against. None of it comes from the ledger under test.
 */
import { createHash } from 'node:crypto'
import type { ActorAddress } from '../../../actors/address.ts'
import type { Arrival, ArrivedFrom, ArrivingAccount } from '../../../actors/arrival.ts'
import { actorKey } from '../../support/reference-encoding.ts'
import { useKey } from './model.ts'

export const SIGNED_OPERATIONS = ['transaction', 'key_rotation', 'mint', 'hold'] as const
export type SignedOperation = (typeof SIGNED_OPERATIONS)[number]

/** Idempotency keys that an account used on its former ledger. */
export type ForeignKeyUses = { readonly [Operation in SignedOperation]: readonly string[] }

/** One record, as its home receives it. */
export interface SignedRecord {
  readonly actor: ActorAddress
  readonly from: ArrivedFrom
  readonly arrival: Arrival
  /** Only for an account that arrives with its holdings. */
  readonly usedThere: ForeignKeyUses | null
}

/** `status` changes once; all drivers of the import act on it. */
export interface Import {
  readonly importId: string
  readonly records: readonly SignedRecord[]
  status: 'applying' | 'taking' | 'refusing'
  /** Actors that existed already, according to the replies to the driver that decided. */
  present: ReadonlySet<string>
}

export class ImportBook {
  readonly imports = new Map<string, Import>()
  private readonly departures = new Set<string>()
  private readonly erasures = new Set<string>()
  private readonly uses = new Map<string, ReadonlySet<string>>()
  private readonly hashes = new Map<string, ReadonlySet<string>>()

  open(one: Import): void {
    this.imports.set(one.importId, one)
    for (const { actor, arrival, usedThere } of one.records) {
      const account = arrival.kind === 'account' ? arrival.account : null
      if (account === null || usedThere === null) continue
      const at = `${one.importId} ${actor.id}`
      const used = SIGNED_OPERATIONS.flatMap((operation) =>
        usedThere[operation].map((key) => [operation, key] as const),
      )
      this.uses.set(at, new Set(used.map(([operation, key]) => useKey(operation, key))))
      this.hashes.set(at, new Set(hashesOf(actor.id, account, usedThere)))
    }
  }

  recordOf(importId: string, actor: ActorAddress): SignedRecord | undefined {
    const key = actorKey(actor)
    return this.imports.get(importId)?.records.find((record) => actorKey(record.actor) === key)
  }

  /** By `useKey`. */
  usedThere(importId: string, accountId: string): ReadonlySet<string> {
    return this.uses.get(`${importId} ${accountId}`) ?? new Set()
  }

  /** In the form of notes. */
  hashesThere(importId: string, accountId: string): ReadonlySet<string> {
    return this.hashes.get(`${importId} ${accountId}`) ?? new Set()
  }

  /** `tokenId` null: the account is to close. */
  departs(accountId: string, audience: string, tokenId: string | null): void {
    this.departures.add(JSON.stringify([accountId, audience, tokenId]))
  }

  wasToDepart(accountId: string, audience: string, tokenId: string | null): boolean {
    return this.departures.has(JSON.stringify([accountId, audience, tokenId]))
  }

  erases(accountId: string, reason: string): void {
    this.erasures.add(JSON.stringify([accountId, reason]))
  }

  wasToBeErased(accountId: string, reason: string): boolean {
    return this.erasures.has(JSON.stringify([accountId, reason]))
  }
}

/** In the format of exports. */
export function hashesOf(accountId: string, { keySalt }: ArrivingAccount, used: ForeignKeyUses): readonly string[] {
  return SIGNED_OPERATIONS.flatMap((operation) =>
    used[operation].map((key) =>
      createHash('sha256').update([keySalt, accountId, operation, key].join('\n')).digest('base64url'),
    ),
  )
}
