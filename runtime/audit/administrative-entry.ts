/** Entries of the administrative chain, hashed as those of accounts are (actors/audit-chain.ts). */
import { type AuditEntry, chainHash, type Hash } from '../../actors/audit-chain.ts'
import { canonicalJson } from '../../actors/canonical-json.ts'
import { isoTimestamp } from '../../actors/timestamp.ts'
import type { AdministrativeRecord } from '../ports/administrative-chain.ts'

const FORMAT = 1

export interface NewAdministrativeEntry extends Omit<AdministrativeRecord, 'accountId'> {
  readonly ledgerId: string
  readonly sequence: number
  readonly previousHash: Hash
  /** Keyed hash of the account; null: none. */
  readonly accountRef: string | null
  readonly atMs: number
  /** 32 hexadecimal digits: without it an entry could be guessed from its hash. */
  readonly salt: string
}

export function administrativeEntry(entry: NewAdministrativeEntry): Omit<AuditEntry, 'txnId'> {
  const { ledgerId, sequence, previousHash, accountRef, atMs, salt, clientId, act, details, of } = entry
  const payload = canonicalJson({
    format: FORMAT,
    type: 'administrative',
    ledger_id: ledgerId,
    sequence,
    at: isoTimestamp(atMs),
    salt,
    client_id: clientId,
    act,
    account_ref: accountRef,
    details,
    of,
  })
  return { sequence, previousHash, auditHash: chainHash(previousHash, payload), payload }
}
