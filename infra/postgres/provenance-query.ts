/**
 * What became of an NFT, with what was stated of it, in the order of time: ledger events, attestations and revocations
 * merged in one statement (Y5). Entries of one millisecond come in that order of kinds.
 *   P1. No entry beyond the greatest depth is asked for, so that of each kind no more than its first so many are examined,
 *       whatever the page.
 *   P2. The place to go on from carries its depth: what another edge commits late, with an earlier time, is not in the
 *       pages before it, and shifts no depth behind it.
 */
import type postgres from 'postgres'
import { type ActorAddress, instanceAddress } from '../../actors/address.ts'
import { nftId } from '../../actors/nft-id.ts'
import { isoTimestamp } from '../../actors/timestamp.ts'
import type { ProvenanceEntry, ProvenancePage, ProvenanceQuery } from '../../runtime/ports/attestation-store.ts'
import { ABOVE_ALL, ATTESTATION_COLUMNS, attestationOf, type AttestationRow } from './attestation-rows.ts'
import { known, UnreadableRow } from './transaction-rows.ts'

/** Kinds of entries, in the order in which those of one moment come. */
const LEDGER_EVENT = 0
const ATTESTATION = 1
const REVOCATION = 2

/** Where a page ended: what the entries are ordered by, and the depth. */
interface Place {
  readonly depth: number
  readonly atMs: number
  readonly rank: number
  /** Of a ledger event; 0 of the others. */
  readonly number: number
  /** The attestation of the others; empty of a ledger event. */
  readonly entryId: string
}

/** What there is only of a ledger event, or only of the others, is null in the rows of the others. */
interface EntryRow extends AttestationRow {
  /** Of the class: who mints. */
  readonly issuer: string | null
  readonly at: Date
  readonly rank: number
  readonly number: number
  readonly entry_id: string
  readonly type: string
  readonly from_account_id: string | null
  readonly txn_id: string
}

/** The one row of an instance of which nothing follows. */
interface EmptyRow {
  readonly issuer: string | null
  readonly rank: null
}

export async function readProvenance(
  sql: postgres.Sql,
  query: ProvenanceQuery,
  homeOf: (actor: ActorAddress) => number,
): Promise<ProvenancePage | undefined> {
  const id = nftId(query)
  if (id.includes('\0')) return undefined
  const after = query.after === null ? null : (JSON.parse(query.after) as Place)
  const shown = after === null ? 0 : after.depth + 1
  const limit = Math.min(query.limit, query.maxDepth + 1 - shown)
  const rows = await selectEntries(sql, query, homeOf(instanceAddress(id)), after, limit)
  if (rows.length === 0) return undefined
  const found = rows.filter((row): row is EntryRow => row.rank !== null)
  const entries = found.slice(0, limit).map((row, index) => entryOf(row, shown + index))
  const last = found[limit - 1]
  const depth = shown + limit - 1
  const more = found.length > limit && depth < query.maxDepth
  return { entries, next: more && last !== undefined ? placeText(last, depth) : null }
}

/** No row: no such instance. */
async function selectEntries(
  sql: postgres.Sql,
  query: ProvenanceQuery,
  home: number,
  after: Place | null,
  limit: number,
): Promise<readonly (EntryRow | EmptyRow)[]> {
  const { classId, instanceId, maxDepth } = query
  const depths = maxDepth + 1
  const ofInstance = sql`shard_id = ${home} AND nft_id = ${nftId(query)}`
  const ofSubject = sql`subject_class = ${classId} AND subject_instance = ${instanceId}`
  // A range of the whole key: of an instance that much is stated of, the planner would else walk the primary key.
  const subjects = sql`(subject_class, subject_instance, attestation_id)`
  const inOrder = sql`
    ${subjects} >= (${classId}, ${instanceId}, '') AND ${subjects} < (${classId}, ${instanceId}, ${ABOVE_ALL})
    ORDER BY subject_class, subject_instance, attestation_id`
  const ahead =
    after === null
      ? sql`true`
      : sql`(at, rank, number, entry_id) >
            (${isoTimestamp(after.atMs)}::timestamptz, ${after.rank}::integer, ${after.number}::integer, ${after.entryId})`
  return await sql<(EntryRow | EmptyRow)[]>`
    WITH instance AS MATERIALIZED (
      SELECT (SELECT issuer FROM actors class WHERE class.kind = 'class' AND class.class_id = ${classId}) AS issuer
      FROM actors WHERE shard_id = ${home} AND kind = 'instance' AND actor_id = ${nftId(query)} AND status <> 'minting'
    ), page AS MATERIALIZED (
      SELECT * FROM (
        (SELECT occurred_at AS at, ${LEDGER_EVENT}::integer AS rank, number, '' AS entry_id FROM nft_events
         WHERE ${ofInstance} ORDER BY number LIMIT ${depths})
        UNION ALL
        (SELECT created_at, ${ATTESTATION}::integer, 0, attestation_id FROM attestations
         WHERE ${inOrder} LIMIT ${depths})
        UNION ALL
        (SELECT revoked_at, ${REVOCATION}::integer, 0, attestation_id FROM attestations
         WHERE ${ofSubject} AND revoked_at IS NOT NULL ORDER BY revoked_at, attestation_id LIMIT ${depths})
      ) entries
      WHERE ${ahead} ORDER BY at, rank, number, entry_id LIMIT ${limit + 1}
    )
    SELECT instance.issuer, page.*, event.*, stated.*
    FROM instance LEFT JOIN page ON true
    LEFT JOIN LATERAL (
      SELECT type, from_account_id, txn_id FROM nft_events
      WHERE page.rank = ${LEDGER_EVENT} AND ${ofInstance} AND nft_events.number = page.number
    ) event ON true
    LEFT JOIN LATERAL (
      SELECT ${sql(ATTESTATION_COLUMNS)} FROM attestations
      WHERE page.rank <> ${LEDGER_EVENT} AND attestation_id = page.entry_id
    ) stated ON true
    ORDER BY page.at, page.rank, page.number, page.entry_id`
}

function entryOf(row: EntryRow, depth: number): ProvenanceEntry {
  const place = { depth, atMs: row.at.getTime() }
  if (row.rank !== LEDGER_EVENT) {
    const event = row.rank === REVOCATION ? 'revocation' : 'attestation'
    return { ...place, event, attestation: attestationOf(row) }
  }
  const event = known(['mint', 'transfer', 'burn'] as const, row.type, 'NFT event')
  const actor = event === 'mint' ? row.issuer : row.from_account_id
  if (actor === null) throw new UnreadableRow('The event of an NFT names nobody who did it.')
  return { ...place, event, actor, txnId: row.txn_id }
}

function placeText(row: EntryRow, depth: number): string {
  const place: Place = { depth, atMs: row.at.getTime(), rank: row.rank, number: row.number, entryId: row.entry_id }
  return JSON.stringify(place)
}
