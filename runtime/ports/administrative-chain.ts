/**
 * The administrative chain: every act of an administrator, hashed like the audit chain of an account.
 * Contract: test/contract/administrative-chain/administrative-chain.contract.ts
 *   N1. `record` resolves after its commit: the entry is stored, at the end of the chain. Concurrent calls of all processes
 *       get different sequences without gaps.
 *   N2. An entry is never changed or removed.
 *   N3. An act is recorded before it is done, and its outcome after it. An act without an outcome may have been done.
 *   N4. `record` ends within seconds, also while the store hangs. The acts of one client do not shut out those of others.
 * Every failure is an `AdministrativeChainUnavailable`; after a failed `record` the entry may be there.
 */
import type { Hash } from '../../actors/audit-chain.ts'
import type { JsonObject } from '../../actors/canonical-json.ts'

export interface AdministrativeChain {
  /** Returns the entry's sequence. */
  readonly record: (recorded: AdministrativeRecord) => Promise<number>
  /** Oldest first, from the sequence after `after` (-1: from the start). `accountId`: only acts on this account; null: all. */
  readonly entries: (query: AdministrativeQuery) => Promise<AdministrativePage>
}

export interface AdministrativeRecord {
  /** The client that acts; null: a command of an operator. */
  readonly clientId: string | null
  /** Operation ID of the API, or the name of a command. */
  readonly act: string
  /** The account that it is about, which the entry has only as a keyed hash; null: none. */
  readonly accountId: string | null
  readonly details: JsonObject
  /** Of an outcome: the sequence of its act. Null: this is an act. */
  readonly of: number | null
}

export interface AdministrativeQuery {
  readonly after: number
  readonly limit: number
  readonly accountId: string | null
}

export interface AdministrativePage {
  readonly entries: readonly AdministrativeEntry[]
  /** The sequence to continue after; null on the last page. */
  readonly next: number | null
  /** Entries of the whole chain. */
  readonly total: number
}

export interface AdministrativeEntry {
  readonly sequence: number
  readonly previousHash: Hash
  readonly auditHash: Hash
  /** The exact string that was hashed; null: the stored one cannot be read, or was changed. */
  readonly payload: string | null
}

export class AdministrativeChainUnavailable extends Error {
  override readonly name = 'AdministrativeChainUnavailable'
}
