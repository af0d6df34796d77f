/**
 * Requests with the header `Idempotency-Key` in PostgreSQL. Invariants H1 to H5 of the port, and:
 *   H6. A row is sealed for its client, key and status: a reply can neither be moved to another key nor reverted.
 *   H7. No text and no path of a request is readable. The columns show the client, the time, and whether there is a reply.
 */
import type postgres from 'postgres'
import * as v from 'valibot'
import { canonicalJson, type Json } from '../../../actors/canonical-json.ts'
import {
  type AnsweredRequest,
  type BegunRequest,
  type FinishedRequest,
  type IdempotencyStore,
  IdempotencyStoreUnavailable,
  KEPT_FOR_MS,
  type RequestKey,
} from '../../../runtime/ports/idempotency-store.ts'
import { LEDGER_KEY_NAME } from '../../vault/key-name.ts'
import { openJson } from '../../vault/open-json.ts'
import { type Place, placeOf } from '../../vault/place.ts'
import type { RowVault } from '../../vault/row-vault.ts'
import { UnreadableRow } from '../../vault/unreadable-row.ts'
import { createQueryPool, type QueryPool } from '../connection/query-pool.ts'
import { cleanAtIntervals, type CleaningOptions, deleteInSteps } from './cleaning.ts'

export interface PostgresIdempotencyStore extends IdempotencyStore {
  /** Deletes expired rows (H5). Returns their number. */
  readonly cleanUp: () => Promise<number>
  readonly close: () => Promise<void>
}

export interface IdempotencyStoreOptions extends CleaningOptions {
  readonly url: string
  readonly vault: RowVault
  readonly poolSize?: number
}

/** Attempts at a key: between a write and a read another edge may free or delete its row. */
const MAX_TRIES = 10

export function createIdempotencyStore(options: IdempotencyStoreOptions): PostgresIdempotencyStore {
  const { url, vault, poolSize = 4 } = options
  const pool = createQueryPool({
    url,
    name: 'ledger idempotent requests',
    size: poolSize,
    unavailable: (message, cause) => new IdempotencyStoreUnavailable(message, cause),
  })
  const stopCleaning = cleanAtIntervals(() => cleanUp(pool), options)
  const run = <T>(key: RequestKey, work: (sql: postgres.Sql, row: Addressed) => Promise<T>): Promise<T> =>
    pool.run(async (sql) => {
      await vault.keys.fetch(sql, [LEDGER_KEY_NAME])
      return work(sql, { clientId: key.clientId, keyRef: keyRefOf(key, vault), vault })
    })
  return {
    begin: (key, payloadHash) => run(key, (sql, row) => begin(sql, row, payloadHash)),
    finish: (key, request) => run(key, (sql, row) => finish(sql, row, request)),
    refuse: (key) => run(key, refuse),
    keepPart: (key, attempt, number, content) =>
      run(key, (sql, row) => keepPart(sql, row, { attempt, number, content })),
    part: (key, attempt, number) => run(key, (sql, row) => findPart(sql, row, attempt, number)),
    cleanUp: () => cleanUp(pool),
    close: async () => {
      stopCleaning()
      await pool.close()
    },
  }
}

function keyRefOf({ clientId, path, idempotencyKey }: RequestKey, vault: RowVault): string {
  return vault.keyRef(clientId, JSON.stringify([path, idempotencyKey]))
}

interface Addressed {
  readonly clientId: string
  readonly keyRef: string
  readonly vault: RowVault
}

type Status = 'begun' | 'answered'

interface RequestRow {
  readonly status: Status
  readonly document: Buffer
}

export function placeOfRequest(clientId: string, keyRef: string, status: string): Place {
  return placeOf('idempotent_requests', clientId, keyRef, status)
}

export function placeOfAnswerPart(clientId: string, keyRef: string, attempt: string, number: number): Place {
  return placeOf('idempotent_answer_parts', clientId, keyRef, attempt, number)
}

const begunSchema = v.object({ payloadHash: v.string() })
const answeredSchema = v.object({
  payloadHash: v.string(),
  answer: v.object({
    status: v.number(),
    contentType: v.string(),
    headers: v.record(v.string(), v.string()),
    content: v.variant('kind', [
      v.object({ kind: v.literal('text'), text: v.string() }),
      v.object({ kind: v.literal('parts'), attempt: v.string(), count: v.number() }),
      v.object({ kind: v.literal('dropped') }),
    ]),
  }),
})

function sealed({ clientId, keyRef, vault }: Addressed, status: Status, document: object): string {
  return vault.seal(LEDGER_KEY_NAME, placeOfRequest(clientId, keyRef, status), canonicalJson(document as Json))
}

/** Throws UnreadableRow. */
function opened<const Schema extends v.GenericSchema>(
  { clientId, keyRef, vault }: Addressed,
  row: RequestRow,
  schema: Schema,
): v.InferOutput<Schema> {
  const place = placeOfRequest(clientId, keyRef, row.status)
  const read = v.safeParse(schema, openJson<unknown>(vault, LEDGER_KEY_NAME, place, row.document))
  if (!read.success) throw new UnreadableRow(place, 'its document has an unknown shape')
  return read.output
}

/** An expired row (H5), or one without an attempt that may have taken effect (H3), counts as absent. */
function isFree(sql: postgres.Sql) {
  return sql`(kept.created_at < now() - ${KEPT_FOR_MS} * interval '1 millisecond'
              OR (kept.status = 'begun' AND kept.attempts = 0))`
}

async function begin(sql: postgres.Sql, row: Addressed, payloadHash: string): Promise<BegunRequest> {
  const { clientId, keyRef } = row
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    const document = sealed(row, 'begun', { payloadHash })
    const [mine] = await sql`
      INSERT INTO idempotent_requests AS kept (client_id, key_ref, status, attempts, document)
      VALUES (${clientId}, ${keyRef}, 'begun', 1, decode(${document}, 'hex'))
      ON CONFLICT (client_id, key_ref) DO UPDATE
        SET status = 'begun', attempts = 1, document = EXCLUDED.document, created_at = now()
        WHERE ${isFree(sql)}
      RETURNING attempts`
    if (mine !== undefined) return { kind: 'begun' }
    const [found] = await sql<RequestRow[]>`
      SELECT status, document FROM idempotent_requests WHERE client_id = ${clientId} AND key_ref = ${keyRef}`
    if (found === undefined) continue
    if (found.status === 'answered') return { kind: 'answered', request: opened(row, found, answeredSchema) }
    if (opened(row, found, begunSchema).payloadHash !== payloadHash) return { kind: 'taken' }
    const { count } = await sql`
      UPDATE idempotent_requests SET attempts = attempts + 1
      WHERE client_id = ${clientId} AND key_ref = ${keyRef} AND status = 'begun' AND attempts > 0
        AND document = ${found.document}`
    if (count > 0) return { kind: 'begun' }
  }
  throw new IdempotencyStoreUnavailable('The key changed each time that it was looked at.')
}

async function finish(sql: postgres.Sql, row: Addressed, request: AnsweredRequest): Promise<FinishedRequest> {
  const { clientId, keyRef } = row
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    const document = sealed(row, 'answered', request)
    const [mine] = await sql`
      INSERT INTO idempotent_requests AS kept (client_id, key_ref, status, attempts, document)
      VALUES (${clientId}, ${keyRef}, 'answered', 0, decode(${document}, 'hex'))
      ON CONFLICT (client_id, key_ref) DO UPDATE SET status = 'answered', attempts = 0, document = EXCLUDED.document
        WHERE kept.status = 'begun'
      RETURNING status`
    if (mine !== undefined) return { first: true, request }
    const [found] = await sql<RequestRow[]>`
      SELECT status, document FROM idempotent_requests WHERE client_id = ${clientId} AND key_ref = ${keyRef}`
    if (found?.status === 'answered') return { first: false, request: opened(row, found, answeredSchema) }
  }
  throw new IdempotencyStoreUnavailable('The key changed each time that it was looked at.')
}

/** Two concurrent refusals may leave a row without attempts: it counts as absent. */
async function refuse(sql: postgres.Sql, { clientId, keyRef }: Addressed): Promise<void> {
  const { count } = await sql`
    DELETE FROM idempotent_requests
    WHERE client_id = ${clientId} AND key_ref = ${keyRef} AND status = 'begun' AND attempts <= 1`
  if (count > 0) return
  await sql`
    UPDATE idempotent_requests SET attempts = attempts - 1
    WHERE client_id = ${clientId} AND key_ref = ${keyRef} AND status = 'begun' AND attempts > 0`
}

interface AnswerPart {
  readonly attempt: string
  readonly number: number
  readonly content: Uint8Array
}

async function keepPart(
  sql: postgres.Sql,
  { clientId, keyRef, vault }: Addressed,
  { attempt, number, content }: AnswerPart,
): Promise<void> {
  const place = placeOfAnswerPart(clientId, keyRef, attempt, number)
  const text = JSON.stringify({ content: Buffer.from(content).toString('base64') })
  await sql`
    INSERT INTO idempotent_answer_parts (client_id, key_ref, attempt, number, document)
    VALUES (${clientId}, ${keyRef}, ${attempt}, ${number}, decode(${vault.seal(LEDGER_KEY_NAME, place, text)}, 'hex'))`
}

async function findPart(
  sql: postgres.Sql,
  { clientId, keyRef, vault }: Addressed,
  attempt: string,
  number: number,
): Promise<Uint8Array | undefined> {
  const [row] = await sql<{ readonly document: Buffer }[]>`
    SELECT document FROM idempotent_answer_parts
    WHERE client_id = ${clientId} AND key_ref = ${keyRef} AND attempt = ${attempt} AND number = ${number}`
  if (row === undefined) return undefined
  const place = placeOfAnswerPart(clientId, keyRef, attempt, number)
  const { content } = openJson<{ readonly content: string }>(vault, LEDGER_KEY_NAME, place, row.document)
  return Buffer.from(content, 'base64')
}

function cleanUp(pool: QueryPool): Promise<number> {
  const old = (sql: postgres.Sql) => sql`created_at < now() - ${KEPT_FOR_MS} * interval '1 millisecond'`
  return deleteInSteps(pool, [
    (sql, limit) => sql`
      DELETE FROM idempotent_requests WHERE ctid IN (
        SELECT ctid FROM idempotent_requests WHERE ${old(sql)} LIMIT ${limit})`,
    (sql, limit) => sql`
      DELETE FROM idempotent_answer_parts WHERE ctid IN (
        SELECT ctid FROM idempotent_answer_parts WHERE ${old(sql)} LIMIT ${limit})`,
  ])
}
