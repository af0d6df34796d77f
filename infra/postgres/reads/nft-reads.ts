/**
 * NFT classes and instances, from their documents, and the history of an instance. A class without its issuer's agreement,
 * and an instance without its owner's acceptance, do not exist yet. Pages skip them; there are few, for each is an
 * unfinished operation of its issuer, and an account has a few thousand of those at most.
 *
 * Each list is a walk through an index in the order of its IDs, which are compared byte by byte (COLLATE "C"). A page
 * ends before its limit once PAGE_BYTES are reached: schemas and metadata have up to 64 KiB each, and the rows that a
 * pool reads at a time must fit in memory. The server does not unpack rows that it leaves out of a page.
 */
import { instanceAddress } from '../../../actors/address.ts'
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
import { ACTOR_ROW_COLUMNS, type ActorRow, keyNameOfActorRow, stateOf } from '../rows/actor-documents.ts'
import type { Sql } from '../connection/connection.ts'
import { renameHolders, renameIssuers, renameOwners } from './erased-names.ts'
import { countingFirst, type Reading, readPage, readRows, withRoom } from './reading.ts'
import { NFT_EVENT_COLUMNS, type NftEventRow, openNftEvent } from '../rows/nft-event-rows.ts'
import { nftKeyName } from '../rows/row-sealer.ts'
import { prepared } from '../connection/prepared.ts'

export const CLASS = `
SELECT ${ACTOR_ROW_COLUMNS} FROM actors a WHERE a.kind = 'class' AND a.class_id = $1`

export async function readClass(reading: Reading, classId: string): Promise<ClassView | undefined> {
  if (!isClassId(classId)) return undefined
  const select = (sql: Sql): Promise<ActorRow[]> => prepared(sql, CLASS, [classId])
  const rows = await readRows(reading, select, keyNameOfActorRow, [classKeyName(classId)])
  const classes = rows.flatMap((row) => registeredViewOf(stateOf('class', row, reading.vault)) ?? [])
  const [found] = await renameIssuers(reading.names, classes)
  return found
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

export async function readClasses(reading: Reading, after: string | null, limit: number): Promise<ClassesPage> {
  const page = await readPage(reading, {
    text: CLASSES,
    parameters: [after ?? ''],
    limit,
    keyOf: keyNameOfActorRow,
    open: (row: ActorRow) => classViewOf(stateOf('class', row, reading.vault)),
    cursorOf: ({ classId }) => classId,
  })
  const { items = [], next = null, count = null } = page ?? {}
  return { classes: await renameIssuers(reading.names, items), next, count }
}

export const INSTANCE = `
SELECT ${ACTOR_ROW_COLUMNS} FROM actors a WHERE a.shard_id = $1 AND a.kind = 'instance' AND a.actor_id = $2`

export async function readInstance(
  reading: Reading,
  classId: string,
  instanceId: string,
): Promise<InstanceView | undefined> {
  const place = placeOf({ classId, instanceId }, reading)
  if (place === undefined) return undefined
  const select = (sql: Sql): Promise<ActorRow[]> => prepared(sql, INSTANCE, [place.shardId, place.nftId])
  const rows = await readRows(reading, select, keyNameOfActorRow, [classKeyName(classId)])
  const instances = rows.flatMap((row) => instanceViewOf(stateOf('instance', row, reading.vault)) ?? [])
  const [found] = await renameOwners(reading.names, instances)
  return found
}

interface NftPlace {
  readonly shardId: number
  readonly nftId: string
}

/** undefined: there can be no such instance. Its ID is formed like an account's. */
function placeOf(name: NftName, { homeOf }: Reading): NftPlace | undefined {
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
  reading: Reading,
  classId: string,
  after: string | null,
  limit: number,
): Promise<InstancesPage | undefined> {
  if (!isClassId(classId)) return undefined
  const page = await readPage(reading, {
    text: INSTANCES,
    parameters: [classId, nftId({ classId, instanceId: after ?? '' }), `${classId}0`],
    limit,
    keyOf: keyNameOfActorRow,
    ahead: [classKeyName(classId)],
    open: (row: ActorRow) => shownInstance(row, stateOf('instance', row, reading.vault)),
    cursorOf: ({ instanceId }) => instanceId,
  })
  return page && { instances: await renameOwners(reading.names, page.items), next: page.next }
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
  reading: Reading,
  accountId: string,
  after: string | null,
  limit: number,
): Promise<OwnedNftsPage | undefined> {
  const place = reading.placeOf(accountId)
  if (place === undefined) return undefined
  const page = await readPage(reading, {
    text: OWNED,
    parameters: [place.shardId, place.ref, after ?? ''],
    limit,
    keyOf: keyNameOfActorRow,
    open: (row: OwnedRow) => ownedNftOf(row, accountId, reading.vault),
    cursorOf: nftId,
  })
  return page && { nfts: page.items, next: page.next }
}

function ownedNftOf(row: OwnedRow, accountId: string, vault: RowVault): OwnedNft {
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
  reading: Reading,
  classId: string,
  instanceId: string,
  afterNumber: number,
  limit: number,
): Promise<NftHistoryPage | undefined> {
  const place = placeOf({ classId, instanceId }, reading)
  if (place === undefined) return undefined
  const page = await readPage(reading, {
    text: HISTORY,
    parameters: [place.shardId, place.nftId, afterNumber],
    limit,
    keyOf: ({ nft_id: id, shard_id: shardId }: NftEventRow) => nftKeyName(id, shardId),
    ahead: [classKeyName(classId)],
    open: (row) => openNftEvent(row, reading.vault),
    cursorOf: ({ number }) => number,
  })
  return page && { events: await renameHolders(reading.names, page.items), next: page.next }
}
