/**
 * NFT classes and instances, from their documents, and what became of an instance. What its issuer has not agreed to, and
 * what its owner has not accepted, is not there yet; pages walk over it, and there is little of it: each is something
 * unfinished at its issuer, and an account has a few thousand of those at most.
 *
 * Each list is a walk through an index in the order of its IDs, which are compared byte by byte (COLLATE "C"). A page
 * ends before its limit once PAGE_BYTES are reached: schemas and metadata have up to 64 KiB each, and what a pool reads
 * at a time must fit in memory. What the server leaves out of a page it does not unpack.
 */
import { type ActorAddress, instanceAddress } from '../../actors/address.ts'
import { isAccountId } from '../../actors/identifiers.ts'
import { classFactsOf, type ClassState, type ClassView, classViewOf } from '../../actors/nft-class/state.ts'
import { isClassId, nftId, type NftName } from '../../actors/nft-id.ts'
import { type InstanceView, instanceViewOf, type NftEvent } from '../../actors/nft-instance/state.ts'
import type {
  ClassesPage,
  InstancesPage,
  NftHistoryPage,
  OwnedNft,
  OwnedNftsPage,
} from '../../runtime/ports/ledger-reads.ts'
import { classStateOf, instanceStateOf } from './actor-documents.ts'
import type { AccountPlace } from './balance-reads.ts'
import type { QueryPool } from './query-pool.ts'
import { known, UnreadableRow } from './transaction-rows.ts'

type HomeOf = (actor: ActorAddress) => number

/** A page's rows, as text, go up to here and one row further. */
export const PAGE_BYTES = 4 * 1024 * 1024

/** Of the rows walked those that a page has room for, with how many were walked. `walk` is in the order of `id`. */
function withRoom(walk: string, id: string, text: string): string {
  return `
    SELECT sized.*
      FROM (SELECT walk.*, count(*) OVER () AS walked,
                   sum(octet_length(${text})) OVER (ORDER BY ${id} ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS bytes
              FROM (${walk}) walk) sized
     WHERE coalesce(sized.bytes, 0) < ${PAGE_BYTES}`
}

interface DocumentRow {
  readonly document: string
}

/** `walked`: how many rows were; null in the one row of an empty page, which has nothing else. */
type Found<Row> = (Row & { readonly walked: string }) | { readonly walked: null }

interface Shown<Row> {
  readonly rows: readonly Row[]
  readonly more: boolean
}

function shownOf<Row>(found: readonly Found<Row>[], limit: number): Shown<Row> {
  const rows = found.flatMap((row) => (row.walked === null ? [] : [row])).slice(0, limit)
  return { rows, more: Number(found[0]?.walked ?? 0) > rows.length }
}

export const CLASS = `
SELECT document FROM actors WHERE kind = 'class' AND class_id = $1`

export async function readClass(pool: QueryPool, classId: string): Promise<ClassView | undefined> {
  if (!isClassId(classId)) return undefined
  const [row] = await pool.run((sql) =>
    sql.unsafe<{ readonly document: string }[]>(CLASS, [classId], { prepare: true }),
  )
  return row === undefined ? undefined : registeredViewOf(classStateOf(row.document))
}

function registeredViewOf(state: ClassState): ClassView | undefined {
  return classFactsOf(state) === undefined ? undefined : classViewOf(state)
}

export const CLASSES = `
SELECT counting.total, page.document, page.walked
  FROM (SELECT count(*) AS total FROM actors WHERE kind = 'class' AND status = 'active') counting
  LEFT JOIN LATERAL (${withRoom(
    `SELECT class_id, document FROM actors
      WHERE kind = 'class' AND status = 'active' AND class_id > $1 ORDER BY class_id LIMIT $2`,
    'class_id',
    'document',
  )}) page ON true
 ORDER BY page.class_id`

export async function readClasses(pool: QueryPool, after: string | null, limit: number): Promise<ClassesPage> {
  const found = await pool.run((sql) =>
    sql.unsafe<(Found<DocumentRow> & { readonly total: string })[]>(CLASSES, [after ?? '', limit + 1], {
      prepare: true,
    }),
  )
  const { rows, more } = shownOf(found, limit)
  const classes = rows.map(({ document }) => classViewOf(classStateOf(document)))
  return { classes, next: more ? (classes.at(-1)?.classId ?? null) : null, total: Number(found[0]?.total ?? 0) }
}

export const INSTANCE = `
SELECT document FROM actors WHERE shard_id = $1 AND kind = 'instance' AND actor_id = $2`

export async function readInstance(pool: QueryPool, name: NftName, homeOf: HomeOf): Promise<InstanceView | undefined> {
  const place = placeOf(name, homeOf)
  if (place === undefined) return undefined
  const [row] = await pool.run((sql) =>
    sql.unsafe<{ readonly document: string }[]>(INSTANCE, [place.shardId, place.nftId], { prepare: true }),
  )
  return row === undefined ? undefined : instanceViewOf(instanceStateOf(row.document))
}

interface NftPlace {
  readonly shardId: number
  readonly nftId: string
}

/** undefined: there can be no such instance. Its ID is formed like an account's. */
function placeOf(name: NftName, homeOf: HomeOf): NftPlace | undefined {
  if (!isClassId(name.classId) || !isAccountId(name.instanceId)) return undefined
  const id = nftId(name)
  return { shardId: homeOf(instanceAddress(id)), nftId: id }
}

/** `$2` and `$3` enclose the IDs of a class: the zero follows the slash. */
export const INSTANCES = `
SELECT page.document, page.walked
  FROM actors class
  LEFT JOIN LATERAL (${withRoom(
    `SELECT actor_id, document FROM actors
      WHERE kind = 'instance' AND status <> 'minting' AND actor_id > $2 AND actor_id < $3 ORDER BY actor_id LIMIT $4`,
    'actor_id',
    'document',
  )}) page ON true
 WHERE class.kind = 'class' AND class.class_id = $1 AND class.status = 'active'
 ORDER BY page.actor_id`

export async function readInstances(
  pool: QueryPool,
  classId: string,
  after: string | null,
  limit: number,
): Promise<InstancesPage | undefined> {
  if (!isClassId(classId)) return undefined
  const range = [nftId({ classId, instanceId: after ?? '' }), `${classId}0`]
  const found = await pool.run((sql) =>
    sql.unsafe<Found<DocumentRow>[]>(INSTANCES, [classId, ...range, limit + 1], { prepare: true }),
  )
  if (found.length === 0) return undefined
  const { rows, more } = shownOf(found, limit)
  const instances = rows.map(({ document }) => mintedViewOf(document))
  return { instances, next: more ? (instances.at(-1)?.instanceId ?? null) : null }
}

function mintedViewOf(document: string): InstanceView {
  return shownInstance(instanceViewOf(instanceStateOf(document)))
}

function shownInstance(view: InstanceView | undefined): InstanceView {
  if (view === undefined) throw new UnreadableRow('The document of an NFT says that it is being minted.')
  return view
}

/**
 * `owner` stands in a range, not in an equality, so that the walk can be through no index but that of owners: of one who
 * owns much of all there is, the planner would expect the rows to turn up soon in the order of their IDs.
 */
export const OWNED = `
SELECT page.document, page.walked,
       (SELECT class_name FROM actors class WHERE class.kind = 'class' AND class.class_id = page.class_id) AS class_name
  FROM accounts
  LEFT JOIN LATERAL (${withRoom(
    `SELECT owner, actor_id, class_id, document FROM actors
      WHERE kind = 'instance' AND (owner, actor_id) > ($2, $3) AND owner <= $2 ORDER BY owner, actor_id LIMIT $4`,
    'owner, actor_id',
    'document',
  )}) page ON true
 WHERE accounts.shard_id = $1 AND accounts.account_id = $2
 ORDER BY page.actor_id`

interface OwnedRow extends DocumentRow {
  /** null: there is no such class. */
  readonly class_name: string | null
}

export async function readOwnedNfts(
  pool: QueryPool,
  place: AccountPlace | undefined,
  after: string | null,
  limit: number,
): Promise<OwnedNftsPage | undefined> {
  if (place === undefined) return undefined
  const found = await pool.run((sql) =>
    sql.unsafe<Found<OwnedRow>[]>(OWNED, [place.shardId, place.accountId, after ?? '', limit + 1], { prepare: true }),
  )
  if (found.length === 0) return undefined
  const { rows, more } = shownOf(found, limit)
  const nfts = rows.map(ownedNftOf)
  const last = nfts.at(-1)
  return { nfts, next: more && last !== undefined ? nftId(last) : null }
}

function ownedNftOf({ document, class_name: className }: OwnedRow): OwnedNft {
  const state = instanceStateOf(document)
  if (className === null) throw new UnreadableRow('An NFT is of a class that is not registered.')
  return {
    ...shownInstance(instanceViewOf(state)),
    className,
    acquiredAtMs: state.acquiredAtMs,
  }
}

/** Burned ones have a history; those that are being minted have none. */
export const HISTORY = `
SELECT page.number, page.type, page.from_account_id, page.to_account_id, page.txn_id, page.occurred_at,
       page.previous_hash, page.event_hash, page.payload, page.walked
  FROM actors instance
  LEFT JOIN LATERAL (${withRoom(
    `SELECT number, type, from_account_id, to_account_id, txn_id, occurred_at, previous_hash, event_hash, payload
       FROM nft_events WHERE shard_id = $1 AND nft_id = $2 AND number > $3::bigint ORDER BY number LIMIT $4`,
    'number',
    'payload',
  )}) page ON true
 WHERE instance.shard_id = $1 AND instance.kind = 'instance' AND instance.actor_id = $2 AND instance.status <> 'minting'
 ORDER BY page.number`

interface EventRow {
  readonly number: number
  readonly type: string
  readonly from_account_id: string | null
  readonly to_account_id: string
  readonly txn_id: string
  readonly occurred_at: Date
  readonly previous_hash: Buffer
  readonly event_hash: Buffer
  readonly payload: string
}

export async function readNftHistory(
  pool: QueryPool,
  name: NftName,
  { afterNumber, limit }: { readonly afterNumber: number; readonly limit: number },
  homeOf: HomeOf,
): Promise<NftHistoryPage | undefined> {
  const place = placeOf(name, homeOf)
  if (place === undefined) return undefined
  const found = await pool.run((sql) =>
    sql.unsafe<Found<EventRow>[]>(HISTORY, [place.shardId, place.nftId, afterNumber, limit + 1], { prepare: true }),
  )
  if (found.length === 0) return undefined
  const { rows, more } = shownOf(found, limit)
  const events = rows.map(eventOf)
  return { events, next: more ? (events.at(-1)?.number ?? null) : null }
}

function eventOf(row: EventRow): NftEvent {
  return {
    number: row.number,
    type: known(['mint', 'transfer', 'burn'] as const, row.type, 'event'),
    from: row.from_account_id,
    to: row.to_account_id,
    txnId: row.txn_id,
    atMs: row.occurred_at.getTime(),
    previousHash: row.previous_hash.toString('hex'),
    eventHash: row.event_hash.toString('hex'),
    payload: row.payload,
  }
}
