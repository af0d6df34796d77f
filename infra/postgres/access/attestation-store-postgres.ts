/**
 * Attestations in PostgreSQL. Invariants Y1 to Y5 of the port, and:
 *   Y6. Each write is one statement, and none is sent twice: what is asked again after a lost connection is only reads.
 *       A write that met an earlier one reads it by a second statement, which sees the rows that the first waited for.
 *   Y7. A row that does not open, or differs from its columns, is an error: it is neither served nor treated as absent.
 */
import type { ActorAddress } from '../../../actors/address.ts'
import {
  type Attestation,
  type AttestationStore,
  AttestationStoreUnavailable,
  type CreatedAttestation,
  type Revocation,
  type SubmissionKey,
  type SubmittedAttestation,
} from '../../../runtime/ports/attestation-store.ts'
import type { RowVault } from '../../vault/row-vault.ts'
import {
  keyOfRow,
  type OpenedAttestation,
  openAttestation,
  sealedAttestation,
  ATTESTATION_COLUMNS,
  type AttestationRow,
} from '../rows/attestation-document.ts'
import { readAttestationPage } from '../reads/attestations-query.ts'
import { createNames, renameActors, renameAttesters } from '../reads/erased-names.ts'
import { READ_SETTINGS } from '../reads/ledger-reads-postgres.ts'
import { readProvenance } from '../reads/provenance-query.ts'
import { createQueryPool, type QueryPool, type QueryPoolOptions } from '../connection/query-pool.ts'

export interface PostgresAttestationStore extends AttestationStore {
  readonly close: () => Promise<void>
}

export interface AttestationStoreOptions {
  readonly url: string
  /** The shard that an actor's key hashes to. */
  readonly homeOf: (actor: ActorAddress) => number
  readonly vault: RowVault
  /** Connections for reads; half as many write. */
  readonly poolSize?: number
}

export function createAttestationStore({
  url,
  homeOf,
  vault,
  poolSize = 4,
}: AttestationStoreOptions): PostgresAttestationStore {
  const common = { url, unavailable }
  const reading = createQueryPool({
    ...common,
    name: 'ledger attestations',
    size: poolSize,
    readsOnly: true,
    settings: READ_SETTINGS,
  })
  const writing = createQueryPool({ ...common, name: 'ledger attestations, writing', size: Math.ceil(poolSize / 2) })
  const names = createNames(reading, vault)
  const named = async (attestation: Attestation | undefined): Promise<Attestation | undefined> => {
    const [renamed] = await renameAttesters(names, attestation === undefined ? [] : [attestation])
    return renamed
  }
  return {
    create: (attestation, key) => create({ pool: writing, vault }, attestation, key),
    submitted: async (clientId, idempotencyKey) => {
      const found = await findSubmitted({ pool: reading, vault }, clientId, idempotencyKey)
      const attestation = await named(found?.attestation)
      return found && attestation && { ...found, attestation }
    },
    attestation: async (attestationId) =>
      named((await find({ pool: reading, vault }, attestationId))?.opened.attestation),
    revoke: async (attestationId, revocation) =>
      named(await revoke({ pool: writing, vault }, attestationId, revocation)),
    attestations: async (query) => {
      const page = await reading.run((sql) => readAttestationPage(sql, query, { homeOf, vault }))
      return { ...page, attestations: await renameAttesters(names, page.attestations) }
    },
    provenance: async (query) => {
      const page = await reading.run((sql) => readProvenance(sql, query, { homeOf, vault }))
      return page && { ...page, entries: await renameActors(names, page.entries) }
    },
    close: async () => {
      await Promise.all([reading.close(), writing.close()])
    },
  }
}

const unavailable: QueryPoolOptions['unavailable'] = (message, cause) => new AttestationStoreUnavailable(message, cause)

interface Database {
  readonly pool: QueryPool
  readonly vault: RowVault
}

/** A second request under a key waits until the first has committed (Y2). */
async function create(
  database: Database,
  attestation: Attestation,
  key: SubmissionKey | null,
): Promise<CreatedAttestation> {
  const { pool, vault } = database
  const made = await pool.run((sql) => {
    const row = sealedAttestation({ attestation, submission: key }, vault)
    return sql`
      INSERT INTO attestations ${sql(row, ...ATTESTATION_COLUMNS)}
      ON CONFLICT (submitted_by, idempotency_key) WHERE idempotency_key IS NOT NULL DO NOTHING
      RETURNING attestation_id`
  })
  if (made.length > 0) return { kind: 'created' }
  const earlier = key === null ? undefined : await findSubmitted(database, attestation.submittedBy, key.idempotencyKey)
  if (earlier === undefined) throw new AttestationStoreUnavailable('The database kept an attestation from nothing.')
  return { kind: 'repeated', earlier }
}

async function findSubmitted(
  { pool, vault }: Database,
  clientId: string,
  idempotencyKey: string,
): Promise<SubmittedAttestation | undefined> {
  const opened = await pool.run(async (sql) => {
    const [row] = await sql<AttestationRow[]>`
      SELECT ${sql(ATTESTATION_COLUMNS)} FROM attestations
      WHERE submitted_by = ${clientId} AND idempotency_key = ${vault.keyRef(clientId, idempotencyKey)}`
    return row === undefined ? undefined : openAttestation(row, vault)
  })
  if (opened === undefined || opened.submission === null) return undefined
  return { attestation: opened.attestation, payloadHash: opened.submission.payloadHash }
}

interface Found {
  readonly row: AttestationRow
  readonly opened: OpenedAttestation
}

async function find({ pool, vault }: Database, attestationId: string): Promise<Found | undefined> {
  if (attestationId.includes('\0')) return undefined
  return pool.run(async (sql) => {
    const [row] = await sql<AttestationRow[]>`
      SELECT ${sql(ATTESTATION_COLUMNS)} FROM attestations WHERE attestation_id = ${attestationId}`
    return row === undefined ? undefined : { row, opened: openAttestation(row, vault) }
  })
}

/** The only change of an active attestation. A concurrent second request waits for the row, and changes nothing (Y3). */
async function revoke(
  database: Database,
  attestationId: string,
  revocation: Revocation,
): Promise<Attestation | undefined> {
  const { pool, vault } = database
  const found = await find(database, attestationId)
  if (found === undefined || found.opened.attestation.revocation !== null) return found?.opened.attestation
  const attestation = { ...found.opened.attestation, revocation }
  const changed = await pool.run((sql) => {
    const row = sealedAttestation({ ...found.opened, attestation }, vault, keyOfRow(found.row, vault))
    return sql`
      UPDATE attestations SET status = ${row.status}, revoked_at = ${row.revoked_at}, document = ${row.document}
      WHERE attestation_id = ${attestationId} AND status = 'active'
      RETURNING attestation_id`
  })
  return changed.length > 0 ? attestation : (await find(database, attestationId))?.opened.attestation
}
