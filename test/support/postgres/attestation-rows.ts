/** Writes rows of attestations, and of their NFTs, with the ledger's keys. */
import type postgres from 'postgres'
import { type ActorAddress, classAddress } from '../../../actors/address.ts'
import { nftId, type NftName } from '../../../actors/nft-id.ts'
import type { NftEvent } from '../../../actors/nft-instance/state.ts'
import {
  keyOfRow,
  openAttestation,
  sealedAttestation,
  ATTESTATION_COLUMNS,
  type AttestationRow,
} from '../../../infra/postgres/rows/attestation-document.ts'
import { PLACES } from '../../../infra/postgres/rows/row-sealer.ts'
import { classKeyName } from '../../../infra/vault/key-name.ts'
import type { RowVault } from '../../../infra/vault/row-vault.ts'
import type { Attestation } from '../../../runtime/ports/attestation-store.ts'

export interface NftRows {
  readonly sql: postgres.Sql
  readonly vault: RowVault
  readonly homeOf: (actor: ActorAddress) => number
}

type AnySql = postgres.ISql

/** Rows of one statement: a statement has at most 65,535 parameters. */
const ROWS_AT_ONCE = 4_000

export async function insertAttestations(sql: AnySql, rows: readonly AttestationRow[]): Promise<void> {
  for (let start = 0; start < rows.length; start += ROWS_AT_ONCE) {
    await sql`INSERT INTO attestations ${sql(rows.slice(start, start + ROWS_AT_ONCE), ...ATTESTATION_COLUMNS)}`
  }
}

/** Whatever it was: the row is as if it had been written so. */
export async function rewriteAttestation(sql: AnySql, vault: RowVault, attestation: Attestation): Promise<void> {
  const ofIt = sql`attestation_id = ${attestation.attestationId}`
  const [row] = await sql<AttestationRow[]>`SELECT * FROM attestations WHERE ${ofIt}`
  if (row === undefined) throw new Error('there is no such attestation')
  const { submission } = openAttestation(row, vault)
  const rewritten = sealedAttestation({ attestation, submission }, vault, keyOfRow(row, vault))
  await sql`UPDATE attestations SET ${sql(rewritten, ...ATTESTATION_COLUMNS)} WHERE ${ofIt}`
}

interface PutClass {
  readonly classId: string
  readonly name: string
  readonly issuer: string
}

export async function putClass({ sql, vault, homeOf }: NftRows, { classId, name, issuer }: PutClass): Promise<void> {
  await putClassKey({ sql, vault }, classId)
  const address = classAddress(name)
  const home = homeOf(address)
  const place = PLACES.actor(home, 'class', address.id, 1)
  const text = JSON.stringify({ format: 1, kind: 'class', id: address.id, classId, name, issuer, status: 'active' })
  await sql`
    INSERT INTO actors (shard_id, kind, actor_id, version, status, document, class_id, issuer, created_at)
    VALUES (${home}, 'class', ${address.id}, 1, 'active', decode(${vault.seal(classKeyName(classId), place, text)}, 'hex'),
      ${classId}, ${vault.accountRef(issuer)}, 'epoch')`
}

interface PutInstance extends NftName {
  readonly issuer: string
  readonly events: readonly NftEvent[]
}

/** With a class of its own. The document of an instance is not read here. */
export async function putInstance(rows: NftRows, instance: PutInstance, status: string): Promise<void> {
  const { sql, vault, homeOf } = rows
  const { classId, issuer } = instance
  const id = nftId(instance)
  const home = homeOf({ kind: 'instance', id })
  await putClass(rows, { classId, name: `name of ${classId}`, issuer })
  await sql`
    INSERT INTO actors (shard_id, kind, actor_id, version, status, document, class_id, created_at)
    VALUES (${home}, 'instance', ${id}, 1, ${status}, '', ${classId}, 'epoch')`
  for (const event of instance.events) {
    const payload = vault.seal(classKeyName(classId), PLACES.nftEvent(home, id, event.number), event.payload)
    await sql`
      INSERT INTO nft_events (shard_id, nft_id, number, type, from_account_id, to_account_id, txn_id, occurred_at,
        previous_hash, event_hash, payload)
      VALUES (${home}, ${id}, ${event.number}, ${event.type}, ${event.from === null ? null : vault.accountRef(event.from)},
        ${vault.accountRef(event.to)}, ${event.txnId}, ${new Date(event.atMs).toISOString()},
        decode(${event.previousHash}, 'hex'), decode(${event.eventHash}, 'hex'), decode(${payload}, 'hex'))`
  }
}

async function putClassKey({ sql, vault }: Pick<NftRows, 'sql' | 'vault'>, classId: string): Promise<void> {
  const made = vault.keys.make(classKeyName(classId))
  const { masterKeyId, wrapped } = made.wrapped
  await sql`
    INSERT INTO data_keys (shard_id, scope, ref, master_key_id, wrapped)
    VALUES (0, 'class', ${classId}, ${masterKeyId}, ${wrapped})`
  vault.keys.adopt(made)
}
