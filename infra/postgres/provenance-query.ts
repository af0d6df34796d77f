/**
 * What became of an NFT, with what was stated of it, in the order of time: ledger events, attestations and revocations
 * merged in one statement (Y5). Entries of one millisecond come in that order of kinds.
 *   P1. No entry beyond the greatest depth is asked for, so that of each kind no more than its first so many are examined,
 *       whatever the page.
 *   P2. The place to go on from carries its depth: what another edge commits late, with an earlier time, is not in the
 *       pages before it, and shifts no depth behind it.
 */
import type postgres from 'postgres'
import { instanceAddress } from '../../actors/address.ts'
import { nftId } from '../../actors/nft-id.ts'
import { isoTimestamp } from '../../actors/timestamp.ts'
import type { ProvenanceEntry, ProvenancePage, ProvenanceQuery } from '../../runtime/ports/attestation-store.ts'
import { classKeyName } from '../vault/key-name.ts'
import type { RowVault } from '../vault/row-vault.ts'
import { UnreadableRow } from '../vault/unreadable-row.ts'
import { openAttestation } from './attestation-document.ts'
import { ABOVE_ALL, ATTESTATION_COLUMNS, type AttestationRow } from './attestation-rows.ts'
import type { AttestationReading } from './attestations-query.ts'
import { classFactsOf, findClassRows } from './look-up-nfts.ts'
import { NFT_EVENT_COLUMNS, type NftEventRow, openNftEvent } from './nft-event-rows.ts'

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
interface EntryRow extends AttestationRow, NftEventRow {
  readonly at: Date
  readonly rank: number
  readonly entry_number: number
  readonly entry_id: string
}

/** The one row of an instance of which nothing follows. */
interface EmptyRow {
  readonly rank: null
}

/** Throws UnreadableRow. */
export async function readProvenance(
  sql: postgres.Sql,
  query: ProvenanceQuery,
  { homeOf, vault }: AttestationReading,
): Promise<ProvenancePage | undefined> {
  const id = nftId(query)
  if (id.includes('\0')) return undefined
  const after = query.after === null ? null : (JSON.parse(query.after) as Place)
  const shown = after === null ? 0 : after.depth + 1
  const limit = Math.min(query.limit, query.maxDepth + 1 - shown)
  const home = homeOf(instanceAddress(id))
  const [rows] = await Promise.all([
    selectEntries(sql, query, home, after, limit),
    vault.encrypts ? vault.keys.fetch(sql, [classKeyName(query.classId)]) : undefined,
  ])
  if (rows.length === 0) return undefined
  const found = rows.filter((row): row is EntryRow => row.rank !== null)
  const issuer = found.some(isMint) ? await issuerOf(sql, query.classId, vault) : undefined
  const entries = found.slice(0, limit).map((row, index): ProvenanceEntry => ({
    depth: shown + index,
    atMs: row.at.getTime(),
    ...(row.rank === LEDGER_EVENT ? eventOf(row, issuer, vault) : statementOf(row, vault)),
  }))
  const last = found[limit - 1]
  const depth = shown + limit - 1
  const more = found.length > limit && depth < query.maxDepth
  return { entries, next: more && last !== undefined ? placeText(last, depth) : null }
}

/** Who mints; undefined where the class is not there. A class never changes, so that it may be looked up by itself. */
async function issuerOf(sql: postgres.Sql, classId: string, vault: RowVault): Promise<string | undefined> {
  const [row] = await findClassRows(sql, [classId])
  return row === undefined ? undefined : classFactsOf(row, vault)[1].issuer
}

function isMint({ rank, type }: EntryRow): boolean {
  return rank === LEDGER_EVENT && type === 'mint'
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
      : sql`(at, rank, entry_number, entry_id) >
            (${isoTimestamp(after.atMs)}::timestamptz, ${after.rank}::integer, ${after.number}::integer, ${after.entryId})`
  return await sql<(EntryRow | EmptyRow)[]>`
    WITH instance AS MATERIALIZED (
      SELECT FROM actors WHERE shard_id = ${home} AND kind = 'instance' AND actor_id = ${nftId(query)} AND status <> 'minting'
    ), page AS MATERIALIZED (
      SELECT * FROM (
        (SELECT occurred_at AS at, ${LEDGER_EVENT}::integer AS rank, number AS entry_number, '' AS entry_id FROM nft_events
         WHERE ${ofInstance} ORDER BY number LIMIT ${depths})
        UNION ALL
        (SELECT created_at, ${ATTESTATION}::integer, 0, attestation_id FROM attestations
         WHERE ${inOrder} LIMIT ${depths})
        UNION ALL
        (SELECT revoked_at, ${REVOCATION}::integer, 0, attestation_id FROM attestations
         WHERE ${ofSubject} AND revoked_at IS NOT NULL ORDER BY revoked_at, attestation_id LIMIT ${depths})
      ) entries
      WHERE ${ahead} ORDER BY at, rank, entry_number, entry_id LIMIT ${limit + 1}
    )
    SELECT page.*, event.*, stated.*
    FROM instance LEFT JOIN page ON true
    LEFT JOIN LATERAL (
      SELECT ${sql.unsafe(NFT_EVENT_COLUMNS)} FROM nft_events e
      WHERE page.rank = ${LEDGER_EVENT} AND ${ofInstance} AND e.number = page.entry_number
    ) event ON true
    LEFT JOIN LATERAL (
      SELECT ${sql(ATTESTATION_COLUMNS)} FROM attestations
      WHERE page.rank <> ${LEDGER_EVENT} AND attestation_id = page.entry_id
    ) stated ON true
    ORDER BY page.at, page.rank, page.entry_number, page.entry_id`
}

function statementOf(row: EntryRow, vault: RowVault) {
  const event = row.rank === REVOCATION ? ('revocation' as const) : ('attestation' as const)
  return { event, attestation: openAttestation(row, vault).attestation }
}

function eventOf(row: EntryRow, issuer: string | undefined, vault: RowVault) {
  const { type: event, from, txnId } = openNftEvent(row, vault)
  const actor = event === 'mint' ? issuer : from
  if (actor === undefined || actor === null) throw new UnreadableRow(row.nft_id, 'its history names nobody who did it')
  return { event, actor, txnId }
}

function placeText(row: EntryRow, depth: number): string {
  const place: Place = {
    depth,
    atMs: row.at.getTime(),
    rank: row.rank,
    number: row.entry_number,
    entryId: row.entry_id,
  }
  return JSON.stringify(place)
}
