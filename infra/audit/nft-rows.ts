/** Reads NFTs and their histories for an audit. */
import type { InstanceHead, NamedTransaction, WalkedEvent } from '../../runtime/audit/provenance-walk.ts'
import type { NftEventType } from '../../actors/nft-instance/state.ts'
import type { InstanceState } from '../../actors/nft-instance/state.ts'
import type { ClassState } from '../../actors/nft-class/state.ts'
import { storedObject } from '../../runtime/audit/stored-json.ts'
import type { Hold } from '../../actors/account/state.ts'
import { type ActorRow, stateOf } from '../postgres/rows/actor-documents.ts'
import { nftKeyName, PLACES } from '../postgres/rows/row-sealer.ts'
import { accountKeyName } from '../vault/key-name.ts'
import type { RowVault } from '../vault/row-vault.ts'
import { UnreadableRow } from '../vault/unreadable-row.ts'
import { accountMeant, type Opened, opened } from './opened.ts'
import { openTransaction, TRANSACTION_ROW_COLUMNS, type TransactionRow } from '../postgres/rows/transaction-document.ts'
import { receiptProblemOf } from './transaction-checks.ts'
import { countedSql, type Look } from './walk.ts'

/** Approximate number of entries per page. */
export const EVENTS_PAGE_SIZE = 200
/** Documents have up to 64 KiB of metadata each. */
const INSTANCES_PAGE_SIZE = 40

/** Instances behind $1. */
export const INSTANCES_AFTER = instancesPage('a.actor_id > $1::text')
/** Instances from $1 on. */
export const INSTANCES_FROM = instancesPage('a.actor_id >= $1::text')

/** Instances with at most EVENTS_PAGE_SIZE entries together, at least one; each with its last entry, from one snapshot. */
function instancesPage(place: string): string {
  return `
WITH page AS MATERIALIZED (
  SELECT shard_id, actor_id,
         (SELECT max(e.number) FROM nft_events e WHERE e.shard_id = a.shard_id AND e.nft_id = a.actor_id) AS last_event
    FROM actors a WHERE kind = 'instance' AND ${place} ORDER BY actor_id LIMIT ${INSTANCES_PAGE_SIZE}),
weighed AS (
  SELECT page.*, row_number() OVER w AS place, sum(coalesce(last_event, 0)::bigint + 1) OVER w AS weight
    FROM page WINDOW w AS (ORDER BY actor_id))
SELECT a.shard_id, a.kind, a.actor_id, a.version, a.status, a.document, a.class_id, a.owner, w.last_event
  FROM weighed w
  JOIN actors a ON a.shard_id = w.shard_id AND a.kind = 'instance' AND a.actor_id = w.actor_id
 WHERE w.place = 1 OR w.weight <= ${EVENTS_PAGE_SIZE}
 ORDER BY a.actor_id`
}

export interface InstanceRow extends ActorRow {
  readonly status: string
  /** The reference. */
  readonly owner: string | null
  readonly last_event: number | null
}

/** `state`: by `openInstance`. */
export function instanceHeadOf(
  row: InstanceRow,
  state: Opened<InstanceState>,
  classIssuer: string | undefined,
  vault: RowVault,
): InstanceHead {
  return {
    state: state.isOpen ? state.value : undefined,
    status: row.status,
    owner: row.owner === null || !state.isOpen ? row.owner : accountMeant(vault, row.owner, state.value.owner),
    classId: row.class_id,
    lastEvent: row.last_event,
    classIssuer,
  }
}

/** Its class's key must have been fetched. Throws UnreadableRow. */
export function openInstance(row: InstanceRow, vault: RowVault): InstanceState {
  const state = stateOf('instance', row, vault)
  if (state.version === Number(row.version)) return state
  throw new UnreadableRow(actorPlace(row), 'its version is not what was sealed')
}

function actorPlace({ shard_id: shardId, kind, actor_id: id, version }: ActorRow): string {
  return PLACES.actor(shardId, kind, id, Number(version))
}

/** Registered classes, and whether the data key of each exists. */
export const CLASSES_NAMED = `
SELECT a.shard_id, a.kind, a.actor_id, a.version, a.class_id, a.class_name, a.issuer, a.status, a.document,
       EXISTS (SELECT FROM data_keys k WHERE k.scope = 'class' AND k.ref = a.class_id) AS has_key
  FROM actors a WHERE a.kind = 'class' AND a.status = 'active' AND a.class_id = ANY($1::text[])`

export interface ClassRow extends ActorRow {
  readonly class_name: string | null
  /** The reference. */
  readonly issuer: string | null
  readonly status: string
  readonly has_key: boolean
}

/** Its key must have been fetched. Throws UnreadableRow. */
export function openClass(row: ClassRow, vault: RowVault): ClassState {
  const state = stateOf('class', row, vault)
  const agrees =
    state.classId === row.class_id &&
    state.name === row.class_name &&
    state.status === row.status &&
    state.version === Number(row.version) &&
    vault.accountRef(state.issuer) === row.issuer
  if (agrees) return state
  throw new UnreadableRow(actorPlace(row), 'its columns are not what was sealed')
}

/** Entries from $3 to $4 of each instance in ($1, $2), at most EVENTS_PAGE_SIZE. $5: bound of `countedSql`. */
export const EVENTS_PAGE = `
SELECT e.shard_id AS event_shard_id, e.nft_id, e.number, e.type AS event_type, e.from_account_id AS event_from,
       e.to_account_id AS event_to, e.txn_id AS event_txn_id, e.occurred_at, e.previous_hash AS event_previous_hash,
       e.event_hash, e.payload AS event_payload, ${countedSql('e.commit_xid', '$5')} AS counted,
       ${TRANSACTION_ROW_COLUMNS.map((column) => `t.${column}`).join(', ')}
  FROM unnest($1::integer[], $2::text[], $3::bigint[], $4::bigint[]) AS a (shard_id, nft_id, first, last)
  JOIN LATERAL (
    SELECT * FROM nft_events e
     WHERE e.shard_id = a.shard_id AND e.nft_id = a.nft_id AND e.number BETWEEN a.first AND a.last
     ORDER BY e.number LIMIT ${EVENTS_PAGE_SIZE}) e ON true
  LEFT JOIN all_transactions t ON t.txn_id = e.txn_id
 ORDER BY e.nft_id, e.number`

/** The transaction's columns are null when there is none. */
export type EventRow = TransactionRow & {
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
  readonly event_payload: Buffer
  readonly counted: boolean
}

/** Data besides its row that an entry's check needs. */
export interface EventContext {
  /** Issuer of its class; undefined: the class does not exist. */
  readonly issuer: string | undefined
  /** The transaction's account was erased, so the transaction cannot be read. */
  readonly isErased: boolean
  /** The transaction does not exist yet, but is in transit. */
  readonly isOnItsWay: boolean
}

/** The keys of its class and of its transaction's account must have been fetched. Throws UnreadableRow. */
export function walkedEventOf(
  row: EventRow,
  look: Pick<Look, 'vault' | 'receiptProblem'>,
  { issuer, isOnItsWay, isErased }: EventContext,
): WalkedEvent {
  const { vault } = look
  const place = PLACES.nftEvent(row.event_shard_id, row.nft_id, row.number)
  const payload = vault.open(nftKeyName(row.nft_id, row.event_shard_id), place, row.event_payload)
  const said = storedObject(payload)
  const from = row.event_from === null ? null : accountMeant(vault, row.event_from, said?.['from'])
  const found: string | null = row.txn_id
  return {
    number: row.number,
    type: row.event_type,
    from,
    to: accountMeant(vault, row.event_to, said?.['to']),
    txnId: row.event_txn_id,
    atMs: row.occurred_at.getTime(),
    previousHash: row.event_previous_hash.toString('hex'),
    eventHash: row.event_hash.toString('hex'),
    payload,
    transaction: found === null ? (isOnItsWay ? 'on_its_way' : null) : namedOf(row, look, from ?? issuer, isErased),
  }
}

/** `giver`: the expected account of the transaction. */
function namedOf(
  row: EventRow,
  { vault, receiptProblem }: Pick<Look, 'vault' | 'receiptProblem'>,
  giver: string | undefined,
  isErased: boolean,
): NamedTransaction {
  const { token_id: tokenId, status, type } = row
  const accountId = accountMeant(vault, row.account_id, giver)
  if (isErased) return { accountId, tokenId, status, type, receiptProblem: undefined }
  const stored = opened(() => openTransaction(row, vault))
  if (!stored.isOpen) return { accountId, tokenId, status, type, receiptProblem: UNREADABLE }
  const problem = status === 'pending' ? undefined : receiptProblemOf(stored.value, receiptProblem)
  return { accountId, tokenId, status, type, receiptProblem: problem }
}

const UNREADABLE = 'its transaction cannot be read'

/**
 * Whether the transaction $1 of a mint exists by now, and the mint holds of its issuer $2 (the reference) in shard $3. The
 * issuer's account enters the transaction when it receives the outcome of the mint.
 */
export const MINT_ON_ITS_WAY = `
SELECT EXISTS (SELECT FROM all_transactions WHERE txn_id = $1::text) AS entered,
       (SELECT json_agg(json_build_array(h.hold_id, encode(h.document, 'base64'))) FROM holds h
         WHERE h.shard_id = $3::integer AND h.account_id = $2::text
           AND h.hold_id >= 'mint ' AND h.hold_id < 'mint!') AS mints`

export interface MintRow {
  readonly entered: boolean
  readonly mints: readonly (readonly [holdRef: string, sealed: string])[] | null
}

/** The key of the issuer must have been fetched. Unreadable holds do not count. */
export function isAwaited(
  { mints }: MintRow,
  { txnId, shardId, ref }: { readonly txnId: string; readonly shardId: number; readonly ref: string },
  vault: RowVault,
): boolean {
  return (mints ?? []).some(([holdRef, sealed]) => {
    const hold = opened(() => {
      const text = vault.open(accountKeyName(ref), PLACES.hold(shardId, ref, holdRef), Buffer.from(sealed, 'base64'))
      return JSON.parse(text) as Hold
    })
    return hold.isOpen && hold.value.kind === 'mint' && hold.value.transaction.txnId === txnId
  })
}

/** Histories of missing NFTs among the EVENTS_EXAMINED entries after ($1, $2, $3), and the last of these entries. */
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
