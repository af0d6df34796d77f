/**
 * NFT classes and instances, from their documents, and the history of an instance. A class without its issuer's agreement,
 * and an instance without its owner's acceptance, do not exist yet. Pages skip them; there are few, for each is an
 * unfinished operation of its issuer, and an account has a few thousand of those at most.
 *
 * Each list is a walk through an index in the order of its IDs, which are compared byte by byte (COLLATE "C"). A page
 * ends before its limit once PAGE_BYTES are reached: schemas and metadata have up to 64 KiB each, and the rows that a
 * pool reads at a time must fit in memory. The server does not unpack rows that it leaves out of a page.
 */
import { type ActorAddress, instanceAddress } from '../../../actors/address.ts'
import { isAccountId } from '../../../actors/identifiers.ts'
import { classFactsOf, type ClassState, type ClassView, classViewOf } from '../../../actors/nft-class/state.ts'
import { isClassId, nftId, type NftName } from '../../../actors/nft-id.ts'
import { type InstanceState, type InstanceView, instanceViewOf } from '../../../actors/nft-instance/state.ts'
import type {
  ClassesPage,
  InstancesPage,
  NftHistoryPage,
  OwnedNft,
  OwnedNftsPage,
} from '../../../runtime/ports/ledger-reads.ts'
import { classKeyName } from '../../vault/key-name.ts'
import type { RowVault } from '../../vault/row-vault.ts'
import { UnreadableRow } from '../../vault/unreadable-row.ts'
import type { AccountPlace } from './account-reads.ts'
import { ACTOR_ROW_COLUMNS, type ActorRow, keyNameOfActorRow, stateOf } from '../rows/actor-documents.ts'
import { type Counted, countingFirst, countOf } from './list-count.ts'
import { NFT_EVENT_COLUMNS, type NftEventRow, openNftEvent } from '../rows/nft-event-rows.ts'
import { fetchKeys } from '../rows/opened-rows.ts'
import type { QueryPool } from '../connection/query-pool.ts'
import { prepared } from '../connection/prepared.ts'

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
SELECT ${ACTOR_ROW_COLUMNS} FROM actors a WHERE a.kind = 'class' AND a.class_id = $1`

export async function readClass(pool: QueryPool, classId: string, vault: RowVault): Promise<ClassView | undefined> {
  if (!isClassId(classId)) return undefined
  const row = await first(ofClass<ActorRow>(pool, CLASS, [classId], classId, vault))
  return row === undefined ? undefined : registeredViewOf(stateOf('class', row, vault))
}

async function first<Row>(rows: Promise<readonly Row[]>): Promise<Row | undefined> {
  return (await rows)[0]
}

/** Rows that one class's key opens. */
function ofClass<Row extends object>(
  pool: QueryPool,
  text: string,
  parameters: readonly (string | number)[],
  classId: string,
  vault: RowVault,
): Promise<readonly Row[]> {
  return pool.run(async (sql) => {
    const [rows] = await Promise.all([
      prepared<Row>(sql, text, parameters),
      fetchKeys(sql, [classKeyName(classId)], vault),
    ])
    // Of a class that came between the two looks.
    if (rows.length > 0) await fetchKeys(sql, [classKeyName(classId)], vault)
    return rows
  })
}

/** Rows of many classes. `Beside`: what the one row of an empty page has, too. */
function ofClasses<Row extends ActorRow, Beside = unknown>(
  pool: QueryPool,
  text: string,
  parameters: readonly (string | number)[],
  vault: RowVault,
): Promise<readonly (Found<Row> & Beside)[]> {
  return pool.run(async (sql) => {
    const rows = await prepared<Found<Row> & Beside>(sql, text, parameters)
    const names = rows.flatMap((row) => (row.walked === null ? [] : [keyNameOfActorRow(row)]))
    await fetchKeys(sql, names, vault)
    return rows
  })
}

function registeredViewOf(state: ClassState): ClassView | undefined {
  return classFactsOf(state) === undefined ? undefined : classViewOf(state)
}

export const CLASSES = `
SELECT counting.counted, page.*
  FROM ${countingFirst(`SELECT FROM actors WHERE kind = 'class' AND status = 'active'`, '$1')}
  LEFT JOIN LATERAL (${withRoom(
    `SELECT ${ACTOR_ROW_COLUMNS} FROM actors a
      WHERE a.kind = 'class' AND a.status = 'active' AND a.class_id > $1 ORDER BY a.class_id LIMIT $2`,
    'class_id',
    'document',
  )}) page ON true
 ORDER BY page.class_id`

export async function readClasses(
  pool: QueryPool,
  after: string | null,
  limit: number,
  vault: RowVault,
): Promise<ClassesPage> {
  const parameters = [after ?? '', limit + 1]
  const found = await ofClasses<ActorRow, Counted>(pool, CLASSES, parameters, vault)
  const { rows, more } = shownOf(found, limit)
  const classes = rows.map((row) => classViewOf(stateOf('class', row, vault)))
  return { classes, next: more ? (classes.at(-1)?.classId ?? null) : null, count: countOf(found[0]) }
}

export const INSTANCE = `
SELECT ${ACTOR_ROW_COLUMNS} FROM actors a WHERE a.shard_id = $1 AND a.kind = 'instance' AND a.actor_id = $2`

export async function readInstance(
  pool: QueryPool,
  name: NftName,
  homeOf: HomeOf,
  vault: RowVault,
): Promise<InstanceView | undefined> {
  const place = placeOf(name, homeOf)
  if (place === undefined) return undefined
  const row = await first(ofClass<ActorRow>(pool, INSTANCE, [place.shardId, place.nftId], name.classId, vault))
  return row === undefined ? undefined : instanceViewOf(stateOf('instance', row, vault))
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
SELECT page.*
  FROM actors class
  LEFT JOIN LATERAL (${withRoom(
    `SELECT ${ACTOR_ROW_COLUMNS} FROM actors a
      WHERE a.kind = 'instance' AND a.status <> 'minting' AND a.actor_id > $2 AND a.actor_id < $3
      ORDER BY a.actor_id LIMIT $4`,
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
  vault: RowVault,
): Promise<InstancesPage | undefined> {
  if (!isClassId(classId)) return undefined
  const range = [nftId({ classId, instanceId: after ?? '' }), `${classId}0`]
  const parameters = [classId, ...range, limit + 1]
  const found = await ofClass<Found<ActorRow>>(pool, INSTANCES, parameters, classId, vault)
  if (found.length === 0) return undefined
  const { rows, more } = shownOf(found, limit)
  const instances = rows.map((row) => shownInstance(row, stateOf('instance', row, vault)))
  return { instances, next: more ? (instances.at(-1)?.instanceId ?? null) : null }
}

function shownInstance(row: ActorRow, state: InstanceState): InstanceView {
  const view = instanceViewOf(state)
  if (view === undefined) throw new UnreadableRow(`actors ${row.actor_id}`, 'it says that it is being minted')
  return view
}

/**
 * `owner` stands in a range, not in an equality, so that the walk can be through no index but that of owners: of one who
 * owns much of all there is, the planner would expect the rows to turn up soon in the order of their IDs.
 */
export const OWNED = `
SELECT page.*,
       (SELECT class_name FROM actors class WHERE class.kind = 'class' AND class.class_id = page.class_id) AS class_name
  FROM accounts
  LEFT JOIN LATERAL (${withRoom(
    `SELECT a.owner, ${ACTOR_ROW_COLUMNS} FROM actors a
      WHERE a.kind = 'instance' AND (a.owner, a.actor_id) > ($2, $3) AND a.owner <= $2
      ORDER BY a.owner, a.actor_id LIMIT $4`,
    'owner, actor_id',
    'document',
  )}) page ON true
 WHERE accounts.shard_id = $1 AND accounts.account_id = $2
 ORDER BY page.actor_id`

interface OwnedRow extends ActorRow {
  /** null: there is no such class. */
  readonly class_name: string | null
}

export async function readOwnedNfts(
  pool: QueryPool,
  place: AccountPlace | undefined,
  after: string | null,
  limit: number,
  vault: RowVault,
): Promise<OwnedNftsPage | undefined> {
  if (place === undefined) return undefined
  const found = await ofClasses<OwnedRow>(pool, OWNED, [place.shardId, place.ref, after ?? '', limit + 1], vault)
  if (found.length === 0) return undefined
  const { rows, more } = shownOf(found, limit)
  const nfts = rows.map((row) => ownedNftOf(row, place, vault))
  const last = nfts.at(-1)
  return { nfts, next: more && last !== undefined ? nftId(last) : null }
}

function ownedNftOf(row: OwnedRow, { accountId }: AccountPlace, vault: RowVault): OwnedNft {
  const state = stateOf('instance', row, vault)
  const { class_name: className } = row
  if (className === null) throw new UnreadableRow(`actors ${row.actor_id}`, 'it is of a class that is not registered')
  if (state.owner !== accountId) throw new UnreadableRow(`actors ${row.actor_id}`, 'it says that another owns it')
  return { ...shownInstance(row, state), className, acquiredAtMs: state.acquiredAtMs }
}

/** Burned ones have a history; those that are being minted have none. */
export const HISTORY = `
SELECT page.*
  FROM actors instance
  LEFT JOIN LATERAL (${withRoom(
    `SELECT ${NFT_EVENT_COLUMNS}
       FROM nft_events e WHERE e.shard_id = $1 AND e.nft_id = $2 AND e.number > $3::bigint ORDER BY e.number LIMIT $4`,
    'number',
    'payload',
  )}) page ON true
 WHERE instance.shard_id = $1 AND instance.kind = 'instance' AND instance.actor_id = $2 AND instance.status <> 'minting'
 ORDER BY page.number`

export async function readNftHistory(
  pool: QueryPool,
  name: NftName,
  { afterNumber, limit }: { readonly afterNumber: number; readonly limit: number },
  homeOf: HomeOf,
  vault: RowVault,
): Promise<NftHistoryPage | undefined> {
  const place = placeOf(name, homeOf)
  if (place === undefined) return undefined
  const parameters = [place.shardId, place.nftId, afterNumber, limit + 1]
  const found = await ofClass<Found<NftEventRow>>(pool, HISTORY, parameters, name.classId, vault)
  if (found.length === 0) return undefined
  const { rows, more } = shownOf(found, limit)
  const events = rows.map((row) => openNftEvent(row, vault))
  return { events, next: more ? (events.at(-1)?.number ?? null) : null }
}
