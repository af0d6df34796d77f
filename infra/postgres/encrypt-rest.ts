/**
 * What belongs to no shard: value that crossed the ledger's boundary, attestations, clients, imports, and how far
 * the auditor has come. Sealed once all shards are, for then every part of the ledger has looked and writes none of it plain.
 *   R1. Each row is changed only where it still is what was read.
 *   R2. From the end on the server itself refuses a plain row of those that edges and commands write.
 */
import type postgres from 'postgres'
import { type HeadRow, placeOfHead, placeOfPart, placeOfPresent } from '../portability/import-documents.ts'
import { attestationKeyName, LEDGER_KEY_NAME } from '../vault/key-name.ts'
import { type Place, placeOf } from '../vault/place.ts'
import { plainText, type RowVault } from '../vault/row-vault.ts'
import { SEALED_VERSION } from '../vault/sealed-text.ts'
import { placeOfDocument } from './attestation-document.ts'
import { ATTESTATION_COLUMNS, type AttestationRow } from './attestation-rows.ts'
import type { CrossingsRow } from './boundary-crossings.ts'
import { placeOfClient } from './client-document.ts'
import { PLACES } from './row-sealer.ts'

const BATCH_ROWS = 500

/** Returns how many rows it sealed: none, if there were none left. `vault` seals; the ledger's key must be in memory. */
export async function encryptRest(sql: postgres.ISql, vault: RowVault): Promise<number> {
  return (
    (await encryptCrossings(sql, vault)) +
    (await encryptAttestations(sql, vault)) +
    (await encryptClients(sql, vault)) +
    (await encryptProgress(sql, vault)) +
    (await encryptImports(sql, vault)) +
    (await encryptImportParts(sql, vault)) +
    (await dropPlainRequests(sql))
  )
}

/** R2. In the transaction that ends the encryption: nobody writes meanwhile what it has not seen. */
export async function refusePlainRows(sql: postgres.TransactionSql): Promise<void> {
  await sql.unsafe(`
    ALTER TABLE attestations ADD CONSTRAINT attestations_encrypted CHECK (wrapped_key IS NOT NULL) NOT VALID;
    ALTER TABLE clients ADD CONSTRAINT clients_encrypted
      CHECK (get_byte(document, 0) = ${SEALED_VERSION}) NOT VALID`)
}

/** Stored replies expire after a day anyway. Actors still recognize the keys. */
async function dropPlainRequests(sql: postgres.ISql): Promise<number> {
  const requests = await sql`DELETE FROM idempotent_requests WHERE get_byte(document, 0) <> ${SEALED_VERSION}`
  const parts = await sql`DELETE FROM idempotent_answer_parts WHERE get_byte(document, 0) <> ${SEALED_VERSION}`
  return requests.count + parts.count
}

async function encryptCrossings(sql: postgres.ISql, vault: RowVault): Promise<number> {
  let sealed = 0
  let after: Pick<CrossingsRow, 'session' | 'number'> = { session: '', number: '0' }
  for (;;) {
    const rows: readonly CrossingsRow[] = await sql<CrossingsRow[]>`
      SELECT session, number, shards, document FROM boundary_crossings
       WHERE (session, number) > (${after.session}, ${after.number}::bigint) AND get_byte(document, 0) <> ${SEALED_VERSION}
       ORDER BY session, number LIMIT ${BATCH_ROWS}`
    const last = rows.at(-1)
    if (last === undefined) return sealed
    for (const { session, number, document } of rows) {
      const hex = vault.seal(LEDGER_KEY_NAME, PLACES.crossings(session, Number(number)), plainText(document))
      const { count } = await sql`
        UPDATE boundary_crossings SET document = decode(${hex}, 'hex')
         WHERE session = ${session} AND number = ${number} AND document = ${document}`
      sealed += count
    }
    after = last
  }
}

async function encryptAttestations(sql: postgres.ISql, vault: RowVault): Promise<number> {
  let sealed = 0
  let after = ''
  for (;;) {
    const rows: readonly AttestationRow[] = await sql<AttestationRow[]>`
      SELECT ${sql(ATTESTATION_COLUMNS)} FROM attestations
       WHERE attestation_id > ${after} AND wrapped_key IS NULL ORDER BY attestation_id LIMIT ${BATCH_ROWS}`
    const last = rows.at(-1)
    if (last === undefined) return sealed
    for (const { attestation_id: id, status, document } of rows) {
      const key = vault.keys.make(attestationKeyName(id))
      const { masterKeyId, wrapped } = key.wrapped
      const text = plainText(document)
      const hex = vault.seal(key.name, placeOfDocument(id, status), text, new Map([[key.name, key]]))
      const { count } = await sql`
        UPDATE attestations
           SET document = decode(${hex}, 'hex'), master_key_id = ${masterKeyId}, wrapped_key = ${wrapped}
         WHERE attestation_id = ${id} AND wrapped_key IS NULL AND document = ${document}`
      sealed += count
    }
    after = last.attestation_id
  }
}

async function encryptClients(sql: postgres.ISql, vault: RowVault): Promise<number> {
  let sealed = 0
  const rows = await sql<{ readonly client_id: string; readonly document: Buffer }[]>`
    SELECT client_id, document FROM clients WHERE get_byte(document, 0) <> ${SEALED_VERSION}`
  for (const { client_id: clientId, document } of rows) {
    const hex = vault.seal(LEDGER_KEY_NAME, placeOfClient(clientId), plainText(document))
    const { count } = await sql`
      UPDATE clients SET document = decode(${hex}, 'hex') WHERE client_id = ${clientId} AND document = ${document}`
    sealed += count
  }
  return sealed
}

/** As progress-store.ts writes it. */
async function encryptProgress(sql: postgres.ISql, vault: RowVault): Promise<number> {
  const [row] = await sql<{ readonly document: string }[]>`SELECT document FROM audit_progress`
  if (row === undefined) return 0
  const progress = JSON.parse(row.document) as { readonly sealedPlace?: string | null }
  const bytes = Buffer.from(progress.sealedPlace ?? '', 'hex')
  if (bytes.length === 0 || bytes[0] === SEALED_VERSION) return 0
  const sealedPlace = vault.seal(LEDGER_KEY_NAME, placeOf('audit_progress'), plainText(bytes))
  const { count } = await sql`
    UPDATE audit_progress SET document = ${JSON.stringify({ ...progress, sealedPlace })} WHERE document = ${row.document}`
  return count
}

async function encryptImports(sql: postgres.ISql, vault: RowVault): Promise<number> {
  let sealed = 0
  const rows = await sql<HeadRow[]>`
    SELECT import_id, status, next_part, position, document FROM imports WHERE get_byte(document, 0) <> ${SEALED_VERSION}`
  for (const { import_id: importId, status, next_part: nextPart, position, document } of rows) {
    const place = placeOfHead(importId, status, nextPart, position)
    const hex = vault.seal(LEDGER_KEY_NAME, place, plainText(document))
    const { count } = await sql`
      UPDATE imports SET document = decode(${hex}, 'hex') WHERE import_id = ${importId} AND document = ${document}`
    sealed += count
  }
  return sealed
}

/** One at a time: a part may have a megabyte. */
async function encryptImportParts(sql: postgres.ISql, vault: RowVault): Promise<number> {
  let sealed = 0
  const parts = await sql<{ readonly import_id: string; readonly part: number }[]>`
    SELECT import_id, part FROM import_parts
     WHERE get_byte(document, 0) <> ${SEALED_VERSION} OR get_byte(present, 0) <> ${SEALED_VERSION}`
  for (const { import_id: importId, part } of parts) {
    const [row] = await sql<{ readonly document: Buffer | null; readonly present: Buffer | null }[]>`
      SELECT document, present FROM import_parts WHERE import_id = ${importId} AND part = ${part}`
    if (row === undefined) continue
    const sealedOf = (bytes: Buffer | null, place: Place): string | null =>
      bytes === null || bytes[0] === SEALED_VERSION
        ? (bytes?.toString('hex') ?? null)
        : vault.seal(LEDGER_KEY_NAME, place, plainText(bytes))
    const [document, present] = [
      sealedOf(row.document, placeOfPart(importId, part)),
      sealedOf(row.present, placeOfPresent(importId, part)),
    ]
    const { count } = await sql`
      UPDATE import_parts SET document = decode(${document}, 'hex'), present = decode(${present}, 'hex')
       WHERE import_id = ${importId} AND part = ${part}
         AND document IS NOT DISTINCT FROM ${row.document} AND present IS NOT DISTINCT FROM ${row.present}`
    sealed += count
  }
  return sealed
}
