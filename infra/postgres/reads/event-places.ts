/**
 * Finds the places of events in the committed rows.
 *   E1. All commits below the oldest running PostgreSQL transaction (xid) have ended, so a page stops there: it cannot skip
 *       a commit in flight.
 *   E2. A place is a commit and the number of the event in it. Rows of a commit never change, so neither does the number.
 *   E3. A page reads whole commits, and as few as possible. A commit with more events than a page is read again for each.
 */
import { EventPositionForeign, EventsUnavailable } from '../../../runtime/ports/ledger-events.ts'
import type { Sql } from '../connection/connection.ts'
import { prepared } from '../connection/prepared.ts'

/** Where the content of an event is stored. */
export interface EventPlace {
  /** `entry`: of a chain, beside transactions. */
  readonly kind: 'transaction' | 'entry' | 'nft' | 'group' | 'attestation' | 'revocation'
  readonly commit_xid: string
  /** Null for attestations. */
  readonly shard_id: number | null
  /** Reference of the account, or ID of the NFT, group or attestation. */
  readonly id: string
  /** In the chain; null for a failed transaction, a group and an attestation. */
  readonly number: string | null
  readonly txn_id: string | null
}

export interface Commit {
  /** A PostgreSQL transaction number (xid8) in decimal. */
  readonly xid: string
  /** Events of this commit that were read. */
  readonly offset: number
}

export interface Placed extends Commit {
  readonly place: EventPlace
}

export interface PlacesPage {
  readonly places: readonly Placed[]
  readonly next: Commit
  readonly atEnd: boolean
  /** Identifies the database: an administrator's acceptance of the PostgreSQL server. */
  readonly acceptance: string
}

export interface StoredPosition extends Commit {
  readonly acceptance: string
}

export const BEGINNING: Commit = { xid: '0', offset: 0 }

const POSITION = /^([0-9a-f-]{36})\.([0-9]{1,20})\.([0-9]{1,9})$/

/** Throws EventPositionForeign for text that is no position. */
export function readPosition(text: string): StoredPosition {
  const [, acceptance, xid, offset] = POSITION.exec(text) ?? []
  if (acceptance === undefined || xid === undefined || offset === undefined) throw foreign()
  return { acceptance, xid, offset: Number(offset) }
}

export function positionText({ acceptance, xid, offset }: StoredPosition): string {
  return `${acceptance}.${xid}.${offset}`
}

const ENDED_TRANSACTIONS =
  '(SELECT c.commit_xid, n.txn_id FROM commits c CROSS JOIN LATERAL unnest(c.final || c.ended) AS n (txn_id))'

/** Relations whose rows are events, with the column of their commit. */
const SOURCES = {
  transactions: [ENDED_TRANSACTIONS, 'commit_xid'],
  entries: ['audit_entries', 'commit_xid'],
  nfts: ['nft_events', 'commit_xid'],
  groups: ['actors', 'ended_xid'],
  attestations: ['attestations', 'created_xid'],
  revocations: ['attestations', 'revoked_xid'],
} as const

/** $1: the first commit; $2: rows that may be left out or read. The commit with the next row is the last one read (E3). */
const LAST_READ = Object.values(SOURCES)
  .map(
    ([relation, xid]) => `(SELECT r.${xid} FROM ${relation} r WHERE r.${xid} >= $1::xid8 AND r.${xid} < snapshot.settled
            ORDER BY r.${xid} OFFSET $2::integer LIMIT 1)`,
  )
  .join(',\n           ')

function within(xid: string): string {
  return `${xid} >= $1::xid8 AND ${xid} < bound.settled AND ${xid} <= bound.last`
}

/** `newest`: the highest commits in the rows, each found by one look into an index; compared once, not for each event. */
const SNAPSHOT = `snapshot AS MATERIALIZED (
       SELECT pg_snapshot_xmin(pg_current_snapshot()) AS settled, pg_snapshot_xmax(pg_current_snapshot()) AS next),
     newest AS MATERIALIZED (
       SELECT coalesce((SELECT commit_xid FROM commits ORDER BY commit_xid DESC LIMIT 1) >= next, false)
           OR coalesce((SELECT commit_xid FROM audit_entries ORDER BY commit_xid DESC LIMIT 1) >= next, false) AS ahead
         FROM snapshot),
     server AS MATERIALIZED (
       SELECT acceptance::text FROM accepted_servers
        WHERE system_identifier = (SELECT system_identifier::text FROM pg_control_system())
          AND timeline = substr(pg_walfile_name(pg_current_wal_insert_lsn()), 1, 8))`

const FRAME = 'settled::text, (SELECT acceptance FROM server) AS acceptance, (SELECT ahead FROM newest)'

const END = `WITH ${SNAPSHOT} SELECT ${FRAME} AS ahead FROM snapshot`

/** `rank` orders events of one commit: chains first, since groups and NFTs follow from them. */
const PLACES = `
WITH ${SNAPSHOT},
     bound AS MATERIALIZED (
       SELECT snapshot.settled, snapshot.next, LEAST(snapshot.settled,
           ${LAST_READ}) AS last
         FROM snapshot)
SELECT ${FRAME} OR $1::xid8 > next AS ahead, last::text,
       page.kind, page.commit_xid::text, page.shard_id, page.id, page.number::text, page.txn_id
  FROM bound LEFT JOIN LATERAL (
    SELECT 'transaction' AS kind, 1 AS rank, e.commit_xid, t.shard_id, t.account_id AS id, t.sequence AS number, t.txn_id
      FROM ${ENDED_TRANSACTIONS} e CROSS JOIN LATERAL (
        SELECT shard_id, account_id, sequence, txn_id FROM transactions WHERE txn_id = e.txn_id OFFSET 0) t
     WHERE ${within('e.commit_xid')}
     UNION ALL
    SELECT 'entry', 1, commit_xid, shard_id, account_id, sequence, NULL FROM audit_entries WHERE ${within('commit_xid')}
     UNION ALL
    SELECT 'nft', 2, commit_xid, shard_id, nft_id, number, txn_id FROM nft_events WHERE ${within('commit_xid')}
     UNION ALL
    SELECT 'group', 3, ended_xid, shard_id, actor_id, NULL, NULL FROM actors WHERE ${within('ended_xid')}
     UNION ALL
    SELECT 'attestation', 4, created_xid, NULL, attestation_id, NULL, NULL FROM attestations WHERE ${within('created_xid')}
     UNION ALL
    SELECT 'revocation', 5, revoked_xid, NULL, attestation_id, NULL, NULL FROM attestations WHERE ${within('revoked_xid')}
  ) page ON true
 ORDER BY page.commit_xid, page.rank, page.shard_id, page.id COLLATE "C", page.number NULLS LAST, page.txn_id COLLATE "C"
 LIMIT $2::integer + 1`

interface Frame {
  readonly settled: string
  readonly acceptance: string | null
  /** The server's xids are below those of the position, or of the rows. */
  readonly ahead: boolean
}

/** `last`: the last commit that was read; `settled` if the read reached the end. */
export type PlaceRow = Frame & { readonly last: string } & (EventPlace | { readonly kind: null })

type AcceptedFrame<F extends Frame> = F & { readonly acceptance: string }

export async function findEnd(sql: Sql): Promise<AcceptedFrame<Frame>> {
  const [row] = await prepared<Frame>(sql, END, [])
  return checked(row, null)
}

/** `after`: null for the first event. Throws EventPositionForeign and EventsUnavailable. */
export async function findPlaces(sql: Sql, after: StoredPosition | null, limit: number): Promise<PlacesPage> {
  const { xid, offset } = after ?? BEGINNING
  return pageOf(await prepared<PlaceRow>(sql, PLACES, [xid, offset + limit]), after, limit)
}

/** `rows`: of the query, from the commit of the position on, at most one more than the page can end with. */
export function pageOf(rows: readonly PlaceRow[], after: StoredPosition | null, limit: number): PlacesPage {
  const from = after ?? BEGINNING
  const most = from.offset + limit
  const frame = checked(rows[0], after)
  const read = numbered(rows.filter((row): row is Extract<PlaceRow, EventPlace> => row.kind !== null))
  const places = read.filter(({ xid, offset }) => xid !== from.xid || offset > from.offset).slice(0, limit)
  const { acceptance } = frame
  const last = places.at(-1)
  if (last !== undefined && read.length > most) {
    return { places, next: { xid: last.xid, offset: last.offset }, atEnd: false, acceptance }
  }
  const { settled, last: lastRead } = frame
  const isWhole = lastRead === settled
  return {
    places,
    next: { xid: isWhole ? settled : String(BigInt(lastRead) + 1n), offset: 0 },
    atEnd: isWhole,
    acceptance,
  }
}

/** Numbers the events of each commit from 1. */
function numbered(places: readonly EventPlace[]): readonly Placed[] {
  let before = ''
  let offset = 0
  return places.map((place) => {
    offset = place.commit_xid === before ? offset + 1 : 1
    before = place.commit_xid
    return { place, xid: before, offset }
  })
}

function checked<F extends Frame>(frame: F | undefined, after: StoredPosition | null): AcceptedFrame<F> {
  if (frame === undefined) throw new Error('the query for events returned no row')
  const { acceptance, ahead } = frame
  if (acceptance === null) throw new EventsUnavailable('The PostgreSQL server was not accepted by an administrator.')
  if (after !== null && after.acceptance !== acceptance) throw foreign()
  if (ahead) {
    throw new EventsUnavailable('The transaction numbers of the PostgreSQL server are below those in the ledger.')
  }
  return { ...frame, acceptance }
}

function foreign(): EventPositionForeign {
  return new EventPositionForeign('The position belongs to another database.')
}
