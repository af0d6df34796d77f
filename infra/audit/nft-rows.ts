/** NFTs and their histories as an audit reads them. */
import type { InstanceHead, NamedTransaction, WalkedEvent } from '../../actors/audit/provenance-walk.ts'
import type { NftEventType } from '../../actors/nft-instance/state.ts'
import { instanceStateOf } from '../postgres/actor-documents.ts'
import { RECEIPT_COLUMNS, type TransactionReceiptRow } from '../postgres/transaction-rows.ts'
import type { ReceiptCheck } from './receipt-check.ts'
import { receiptProblemOf } from './transaction-checks.ts'
import { countedSql, orUnreadable } from './walk.ts'

/** Entries that a page has about. */
export const EVENTS_PAGE_SIZE = 200
/** Documents have up to 64 KiB of metadata each. */
const INSTANCES_PAGE_SIZE = 40

/** Instances behind $1. */
export const INSTANCES_AFTER = instancesPage('a.actor_id > $1::text')
/** Instances from $1 on. */
export const INSTANCES_FROM = instancesPage('a.actor_id >= $1::text')

/** As many as have EVENTS_PAGE_SIZE entries together, one at least; each with its last entry, of one moment. */
function instancesPage(place: string): string {
  return `
WITH page AS MATERIALIZED (
  SELECT shard_id, actor_id,
         (SELECT max(e.number) FROM nft_events e WHERE e.shard_id = a.shard_id AND e.nft_id = a.actor_id) AS last_event
    FROM actors a WHERE kind = 'instance' AND ${place} ORDER BY actor_id LIMIT ${INSTANCES_PAGE_SIZE}),
weighed AS (
  SELECT page.*, row_number() OVER w AS place, sum(coalesce(last_event, 0)::bigint + 1) OVER w AS weight
    FROM page WINDOW w AS (ORDER BY actor_id))
SELECT a.shard_id, a.actor_id, a.status, a.document, a.class_id, a.owner, w.last_event
  FROM weighed w
  JOIN actors a ON a.shard_id = w.shard_id AND a.kind = 'instance' AND a.actor_id = w.actor_id
 WHERE w.place = 1 OR w.weight <= ${EVENTS_PAGE_SIZE}
 ORDER BY a.actor_id`
}

export interface InstanceRow {
  readonly shard_id: number
  readonly actor_id: string
  readonly status: string
  readonly document: string
  readonly class_id: string | null
  readonly owner: string | null
  readonly last_event: number | null
}

export function instanceHeadOf(row: InstanceRow, classIssuer: string | undefined): InstanceHead {
  return {
    state: orUnreadable(() => instanceStateOf(row.document), undefined),
    status: row.status,
    owner: row.owner,
    classId: row.class_id,
    lastEvent: row.last_event,
    classIssuer,
  }
}

/** Registered classes, of which a class's issuer never changes. */
export const CLASSES_NAMED = `
SELECT class_id, document FROM actors WHERE kind = 'class' AND status = 'active' AND class_id = ANY($1::text[])`

export interface ClassRow {
  readonly class_id: string
  readonly document: string
}

/** Of each instance in ($1, $2) the entries from $3 to $4, at most EVENTS_PAGE_SIZE. $5: what is counted. */
export const EVENTS_PAGE = `
SELECT e.shard_id AS event_shard_id, e.nft_id, e.number, e.type AS event_type, e.from_account_id AS event_from,
       e.to_account_id AS event_to, e.txn_id AS event_txn_id, e.occurred_at, e.previous_hash AS event_previous_hash,
       e.event_hash, e.payload AS event_payload, ${countedSql('e.commit_xid', '$5')} AS counted,
       ${RECEIPT_COLUMNS.map((column) => `t.${column}`).join(', ')}
  FROM unnest($1::integer[], $2::text[], $3::bigint[], $4::bigint[]) AS a (shard_id, nft_id, first, last)
  JOIN LATERAL (
    SELECT * FROM nft_events e
     WHERE e.shard_id = a.shard_id AND e.nft_id = a.nft_id AND e.number BETWEEN a.first AND a.last
     ORDER BY e.number LIMIT ${EVENTS_PAGE_SIZE}) e ON true
  LEFT JOIN transactions t ON t.txn_id = e.txn_id
 ORDER BY e.nft_id, e.number`

/** The transaction's columns are null when there is none. */
export type EventRow = TransactionReceiptRow & {
  readonly event_shard_id: number
  readonly nft_id: string
  readonly number: number
  readonly event_type: NftEventType
  readonly event_from: string | null
  readonly event_to: string
  readonly event_txn_id: string
  readonly occurred_at: Date
  readonly event_previous_hash: Buffer
  readonly event_hash: Buffer
  readonly event_payload: string
  readonly counted: boolean
}

/** `onItsWay`: when there is no transaction, whether it may still come. */
export function walkedEventOf(row: EventRow, receiptProblem: ReceiptCheck, onItsWay: boolean): WalkedEvent {
  const found: string | null = row.txn_id
  return {
    number: row.number,
    type: row.event_type,
    from: row.event_from,
    to: row.event_to,
    txnId: row.event_txn_id,
    atMs: row.occurred_at.getTime(),
    previousHash: row.event_previous_hash.toString('hex'),
    eventHash: row.event_hash.toString('hex'),
    payload: row.event_payload,
    transaction: found === null ? (onItsWay ? 'on_its_way' : null) : namedOf(row, receiptProblem),
  }
}

function namedOf(row: EventRow, receiptProblem: ReceiptCheck): NamedTransaction {
  const { account_id: accountId, token_id: tokenId, status, type } = row
  const problem =
    status === 'pending' ? undefined : orUnreadable(() => receiptProblemOf(row, receiptProblem), UNREADABLE)
  return { accountId, tokenId, status, type, receiptProblem: problem }
}

const UNREADABLE = 'its transaction cannot be read'

/**
 * Whether the transaction $1 of a mint is there by now, or its issuer $2 still waits to hear of it: it is entered as its
 * account hears that the NFT is minted. $3: the issuer's shard.
 */
export const MINT_ON_ITS_WAY = `
SELECT EXISTS (SELECT FROM transactions WHERE txn_id = $1::text) OR EXISTS (
  SELECT FROM holds h WHERE h.shard_id = $3::integer AND h.account_id = $2::text AND h.hold_id >= 'mint ' AND h.hold_id < 'mint!'
     AND position($1::text IN h.document) > 0) AS on_its_way`

/** Histories of NFTs that are not there, among the EVENTS_EXAMINED entries behind ($1, $2, $3); and the last of these. */
export const EVENTS_EXAMINED = 5_000
export const ORPHANS_PAGE = `
WITH page AS MATERIALIZED (
  SELECT shard_id, nft_id, number FROM nft_events
   WHERE (shard_id, nft_id, number) > ($1::integer, $2::text, $3::integer)
   ORDER BY shard_id, nft_id, number LIMIT ${EVENTS_EXAMINED}),
named AS (SELECT DISTINCT shard_id, nft_id FROM page),
orphans AS (
  SELECT nft_id FROM named n
   WHERE NOT EXISTS (SELECT FROM actors a
                      WHERE a.shard_id = n.shard_id AND a.kind = 'instance' AND a.actor_id = n.nft_id)
   ORDER BY nft_id LIMIT 100)
SELECT last.*, (SELECT count(*) FROM page)::integer AS examined, (SELECT json_agg(nft_id) FROM orphans) AS orphans
  FROM (SELECT * FROM page ORDER BY shard_id DESC, nft_id DESC, number DESC LIMIT 1) last`

export interface OrphansRow {
  readonly shard_id: number
  readonly nft_id: string
  readonly number: number
  readonly examined: number
  readonly orphans: readonly string[] | null
}
