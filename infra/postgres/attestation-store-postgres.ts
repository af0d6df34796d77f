/**
 * Attestations in PostgreSQL. Invariants Y1 to Y5 of the port, and:
 *   Y6. Each write is one statement, and none is sent twice: what is asked again after a lost connection is only reads.
 *       A write that met an earlier one is told of it by a second statement, which sees what the first one waited for.
 */
import type postgres from 'postgres'
import type { ActorAddress } from '../../actors/address.ts'
import { isoTimestamp } from '../../actors/timestamp.ts'
import {
  type Attestation,
  type AttestationStore,
  AttestationStoreUnavailable,
  type CreatedAttestation,
  type Revocation,
  type SubmissionKey,
  type SubmittedAttestation,
} from '../../runtime/ports/attestation-store.ts'
import { ATTESTATION_COLUMNS, attestationOf, type AttestationRow } from './attestation-rows.ts'
import { readAttestationPage } from './attestations-query.ts'
import { READ_SETTINGS } from './ledger-reads-postgres.ts'
import { readProvenance } from './provenance-query.ts'
import { createQueryPool, type QueryPool, type QueryPoolOptions } from './query-pool.ts'
import { UnreadableRow } from './transaction-rows.ts'

export interface PostgresAttestationStore extends AttestationStore {
  readonly close: () => Promise<void>
}

export interface AttestationStoreOptions {
  readonly url: string
  /** The shard that an actor's key hashes to. */
  readonly homeOf: (actor: ActorAddress) => number
  /** Connections for reads; half as many write. */
  readonly poolSize?: number
}

const STATEMENT_TIMEOUT_MS = 5_000

export function createAttestationStore({
  url,
  homeOf,
  poolSize = 4,
}: AttestationStoreOptions): PostgresAttestationStore {
  const common = { url, statementTimeoutMs: STATEMENT_TIMEOUT_MS, unavailable }
  const reading = createQueryPool({
    ...common,
    name: 'ledger attestations',
    size: poolSize,
    readsOnly: true,
    settings: READ_SETTINGS,
  })
  const writing = createQueryPool({ ...common, name: 'ledger attestations, writing', size: Math.ceil(poolSize / 2) })
  return {
    create: (attestation, key) => create(writing, attestation, key),
    submitted: (clientId, idempotencyKey) => findSubmitted(reading, clientId, idempotencyKey),
    attestation: (attestationId) => find(reading, attestationId),
    revoke: (attestationId, revocation) => revoke(writing, attestationId, revocation),
    attestations: (query) => readable(() => reading.run((sql) => readAttestationPage(sql, query, homeOf))),
    provenance: (query) => readable(() => reading.run((sql) => readProvenance(sql, query, homeOf))),
    close: async () => {
      await Promise.all([reading.close(), writing.close()])
    },
  }
}

const unavailable: QueryPoolOptions['unavailable'] = (message, cause) => new AttestationStoreUnavailable(message, cause)

async function readable<T>(read: () => Promise<T>): Promise<T> {
  try {
    return await read()
  } catch (cause) {
    if (cause instanceof UnreadableRow) {
      throw new AttestationStoreUnavailable('The database holds what cannot be read.', { cause })
    }
    throw cause
  }
}

/** Whoever comes second under a key waits until the first has committed (Y2). */
async function create(
  pool: QueryPool,
  attestation: Attestation,
  key: SubmissionKey | null,
): Promise<CreatedAttestation> {
  const { attestationId, submittedBy, seal } = attestation
  const made = await pool.run(
    (sql) => sql`
      INSERT INTO attestations (attestation_id, subject_class, subject_instance, attester, status, attestation_type,
        statement, evidence_url, submitted_by, attester_verified, created_at, key_id, signature, idempotency_key,
        payload_hash)
      VALUES (${attestationId}, ${attestation.subjectClass}, ${attestation.subjectInstance}, ${attestation.attester},
        'active', ${attestation.attestationType}, ${attestation.statement}, ${attestation.evidenceUrl}, ${submittedBy},
        ${attestation.attesterVerified}, ${isoTimestamp(attestation.createdAtMs)}, ${seal.keyId}, ${seal.signature},
        ${key?.idempotencyKey ?? null}, decode(${key?.payloadHash ?? null}, 'hex'))
      ON CONFLICT (submitted_by, idempotency_key) WHERE idempotency_key IS NOT NULL DO NOTHING
      RETURNING attestation_id`,
  )
  if (made.length > 0) return { kind: 'created' }
  const earlier = key === null ? undefined : await findSubmitted(pool, submittedBy, key.idempotencyKey)
  if (earlier === undefined) throw new AttestationStoreUnavailable('The database kept an attestation from nothing.')
  return { kind: 'repeated', earlier }
}

async function findSubmitted(
  pool: QueryPool,
  clientId: string,
  idempotencyKey: string,
): Promise<SubmittedAttestation | undefined> {
  const [row] = await pool.run(
    (sql) => sql<(AttestationRow & { readonly payload_hash: Buffer })[]>`
      SELECT ${sql(ATTESTATION_COLUMNS)}, payload_hash FROM attestations
      WHERE submitted_by = ${clientId} AND idempotency_key = ${idempotencyKey}`,
  )
  return row === undefined
    ? undefined
    : { attestation: attestationOf(row), payloadHash: row.payload_hash.toString('hex') }
}

async function find(pool: QueryPool, attestationId: string): Promise<Attestation | undefined> {
  if (attestationId.includes('\0')) return undefined
  const [row] = await pool.run(
    (sql) => sql<AttestationRow[]>`
      SELECT ${sql(ATTESTATION_COLUMNS)} FROM attestations WHERE attestation_id = ${attestationId}`,
  )
  return row === undefined ? undefined : attestationOf(row)
}

/** Whoever comes second waits for the row, finds it revoked and changes nothing (Y3). */
async function revoke(
  pool: QueryPool,
  attestationId: string,
  { atMs, by, reason, seal }: Revocation,
): Promise<Attestation | undefined> {
  if (attestationId.includes('\0')) return undefined
  const [row] = await pool.run(
    (sql: postgres.Sql) => sql<AttestationRow[]>`
      UPDATE attestations
      SET status = 'revoked', revoked_at = ${isoTimestamp(atMs)}, revoked_by = ${by}, revocation_reason = ${reason},
        revocation_key_id = ${seal.keyId}, revocation_signature = ${seal.signature}
      WHERE attestation_id = ${attestationId} AND status = 'active'
      RETURNING ${sql(ATTESTATION_COLUMNS)}`,
  )
  return row === undefined ? find(pool, attestationId) : attestationOf(row)
}
