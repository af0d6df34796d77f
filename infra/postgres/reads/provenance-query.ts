/**
 * The provenance of an NFT in the order of time: ledger events, attestations and revocations merged in one statement (Y5).
 * Entries of the same millisecond are ordered by kind, as above.
 *   P1. A page examines at most as many rows of each kind as it shows, and ledger events only up to the depth: it reads
 *       nothing after the first transfer beyond the depth.
 *   P2. Numbers identify ledger events and determine depth: an attestation or an event that another process commits late,
 *       with an earlier time, neither repeats an entry nor shifts the depth of one.
 */
import type postgres from 'postgres'
import { instanceAddress } from '../../../actors/address.ts'
import { attestationIdFloor } from '../../../actors/identifiers.ts'
import { nftId } from '../../../actors/nft-id.ts'
import { isoTimestamp } from '../../../actors/timestamp.ts'
import type { ProvenanceEntry, ProvenancePage, ProvenanceQuery } from '../../../runtime/ports/attestation-store.ts'
import { classKeyName } from '../../vault/key-name.ts'
import type { RowVault } from '../../vault/row-vault.ts'
import { UnreadableRow } from '../../vault/unreadable-row.ts'
import { openAttestation, ABOVE_ALL, ATTESTATION_COLUMNS, type AttestationRow } from '../rows/attestation-document.ts'
import type { AttestationReading } from './attestations-query.ts'
import { classFactsOf, findClassRows } from '../store/look-up-actors.ts'
import { NFT_EVENT_COLUMNS, type NftEventRow, openNftEvent } from '../rows/nft-event-rows.ts'

/** Kinds of entries, in the order in which those of one moment come. */
const LEDGER_EVENT = 0
const ATTESTATION = 1
const REVOCATION = 2

/** Where a page ended. */
interface Place {
  /** Of the last entry. */
  readonly depth: number
  /** The last ledger event before it; -1: none. */
  readonly event: number
  /** The last attestation or revocation before it, or the moment of the last event if that is later. */
  readonly atMs: number
  readonly rank: number
  readonly entryId: string
}

const BEGINNING: Place = { depth: 0, event: -1, atMs: -1, rank: LEDGER_EVENT, entryId: '' }

/** Columns that only one kind of row has are null in the other kind. */
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
  const after = query.after === null ? BEGINNING : (JSON.parse(query.after) as Place)
  const home = homeOf(instanceAddress(id))
  const end = await endOfDepth(sql, id, home, query.maxDepth)
  const [rows] = await Promise.all([
    selectEntries(sql, query, { home, after, end }),
    vault.keys.fetch(sql, [classKeyName(query.classId)]),
  ])
  if (rows.length === 0) return undefined
  const ahead = rows.filter((row): row is EntryRow => row.rank !== null)
  const beyond = ahead.findIndex((row) => isTransfer(row) && row.entry_number > query.maxDepth)
  const found = beyond < 0 ? ahead : ahead.slice(0, beyond)
  const issuer = found.some(isMint) ? await issuerOf(sql, query.classId, vault) : undefined
  let place = after
  const entries = found.slice(0, query.limit).map((row): ProvenanceEntry => {
    place = placeAfter(place, row)
    const { depth } = place
    const entry = row.rank === LEDGER_EVENT ? eventOf(row, issuer, vault) : statementOf(row, vault)
    return { depth, atMs: row.at.getTime(), ...entry }
  })
  return { entries, next: found.length > query.limit ? JSON.stringify(place) : null }
}

/** The time of the first transfer beyond the depth; null without one. */
async function endOfDepth(sql: postgres.Sql, id: string, home: number, maxDepth: number): Promise<number | null> {
  const [row] = await sql<{ readonly occurred_at: Date }[]>`
    SELECT occurred_at FROM nft_events
    WHERE shard_id = ${home} AND nft_id = ${id} AND number = ${maxDepth + 1} AND type = 'transfer'`
  return row?.occurred_at.getTime() ?? null
}

function placeAfter(place: Place, row: EntryRow): Place {
  const { at, rank, entry_number: number, entry_id: entryId } = row
  const atMs = at.getTime()
  // An event that was committed late may be earlier than entries already shown.
  const isLater = atMs > place.atMs || (atMs === place.atMs && rank >= place.rank)
  const position = isLater ? { atMs, rank, entryId } : { atMs: place.atMs, rank: place.rank, entryId: place.entryId }
  if (rank !== LEDGER_EVENT) return { ...place, ...position }
  // A burn changes no owner; every event before it, but the mint, is a transfer.
  return { depth: row.type === 'burn' ? number - 1 : number, event: number, ...position }
}

function isTransfer({ rank, type }: EntryRow): boolean {
  return rank === LEDGER_EVENT && type === 'transfer'
}

/** The issuer; undefined if the class does not exist. A class never changes, so a separate statement may read it. */
async function issuerOf(sql: postgres.Sql, classId: string, vault: RowVault): Promise<string | undefined> {
  const [row] = await findClassRows(sql, [classId])
  return row === undefined ? undefined : classFactsOf(row, vault)[1].issuer
}

function isMint({ rank, type }: EntryRow): boolean {
  return rank === LEDGER_EVENT && type === 'mint'
}

interface EntryRange {
  readonly home: number
  readonly after: Place
  readonly end: number | null
}

/** No row: no such instance. */
async function selectEntries(
  sql: postgres.Sql,
  query: ProvenanceQuery,
  { home, after, end }: EntryRange,
): Promise<readonly (EntryRow | EmptyRow)[]> {
  const { classId, instanceId, maxDepth } = query
  const limit = query.limit + 1
  const ofInstance = sql`shard_id = ${home} AND nft_id = ${nftId(query)}`
  const ofSubject = sql`subject_class = ${classId} AND subject_instance = ${instanceId}`
  // A range of the whole key: of an instance that much is stated of, the planner would else walk the primary key.
  const subjects = sql`(subject_class, subject_instance, attestation_id)`
  const last = end === null ? ABOVE_ALL : attestationIdFloor(end)
  const inOrder = sql`
    ${subjects} >= (${classId}, ${instanceId}, ${attestationIdFloor(after.atMs)})
    AND ${subjects} < (${classId}, ${instanceId}, ${last})`
  const afterAt = sql`${isoTimestamp(Math.max(after.atMs, 0))}::timestamptz`
  const ahead = (at: string, rank: number) =>
    sql`(${sql(at)}, ${rank}::integer, attestation_id) > (${afterAt}, ${after.rank}::integer, ${after.entryId})`
  const before = end === null ? sql`true` : sql`revoked_at < ${isoTimestamp(end)}::timestamptz`
  return await sql<(EntryRow | EmptyRow)[]>`
    WITH instance AS MATERIALIZED (
      SELECT FROM actors WHERE shard_id = ${home} AND kind = 'instance' AND actor_id = ${nftId(query)} AND status <> 'minting'
    ), page AS MATERIALIZED (
      SELECT * FROM (
        (SELECT occurred_at AS at, ${LEDGER_EVENT}::integer AS rank, number AS entry_number, '' AS entry_id FROM nft_events
         WHERE ${ofInstance} AND number > ${after.event} AND number <= ${maxDepth + 1} ORDER BY number LIMIT ${limit})
        UNION ALL
        (SELECT created_at, ${ATTESTATION}::integer, 0, attestation_id FROM attestations
         WHERE ${inOrder} AND ${ahead('created_at', ATTESTATION)}
         ORDER BY subject_class, subject_instance, attestation_id LIMIT ${limit})
        UNION ALL
        (SELECT revoked_at, ${REVOCATION}::integer, 0, attestation_id FROM attestations
         WHERE ${ofSubject} AND revoked_at >= ${afterAt} AND ${before} AND ${ahead('revoked_at', REVOCATION)}
         ORDER BY revoked_at, attestation_id LIMIT ${limit})
      ) entries
      ORDER BY at, rank, entry_number, entry_id LIMIT ${limit}
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
  if (actor === undefined || actor === null) throw new UnreadableRow(row.nft_id, 'its history names no actor')
  return { event, actor, txnId }
}
