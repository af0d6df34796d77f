/**
 * Actors that are no accounts: their states, and facts of NFTs that never change: the issuer of a class, and that an
 * instance was minted.
 */
import { actorKey } from '../../../actors/address.ts'
import { type ActorState, addressOfState } from '../../../actors/actor-state.ts'
import type { ClassFacts } from '../../../actors/nft-class/state.ts'
import type { HomedActor } from '../../../runtime/ports/ledger-store.ts'
import type { RowVault } from '../../vault/row-vault.ts'
import { UnreadableRow } from '../../vault/unreadable-row.ts'
import { ACTOR_ROW_COLUMNS, type ActorRow, keyNameOfActorRow, openActor, stateOf } from '../rows/actor-documents.ts'
import type { Sql } from '../connection/connection.ts'
import { shardIds, texts } from './look-up-parameters.ts'
import { prepared } from '../connection/prepared.ts'

export const ACTORS_LOOK_UP = `
SELECT ${ACTOR_ROW_COLUMNS}
  FROM unnest($1::integer[], $2::text[], $3::text[]) AS i (shard_id, kind, actor_id)
  JOIN actors a ON a.shard_id = i.shard_id AND a.kind = i.kind AND a.actor_id = i.actor_id`

export function findActorRows(sql: Sql, actors: readonly HomedActor[]): Promise<readonly ActorRow[]> {
  if (actors.length === 0) return Promise.resolve([])
  const kinds = texts(actors.map(({ address }) => address.kind))
  const ids = texts(actors.map(({ address }) => address.id))
  return prepared<ActorRow>(sql, ACTORS_LOOK_UP, [shardIds(actors), kinds, ids])
}

/** By `actorKey`. Its key must have been fetched. Throws UnreadableRow. */
export function actorOf(row: ActorRow, vault: RowVault): readonly [string, ActorState] {
  const state = openActor(row, keyNameOfActorRow(row), vault)
  return [actorKey(addressOfState(state)), state]
}

export const CLASSES_LOOK_UP = `
SELECT ${ACTOR_ROW_COLUMNS}
  FROM unnest($1::text[]) AS i (class_id)
  JOIN actors a ON a.class_id = i.class_id AND a.kind = 'class' AND a.status = 'active'`

export function findClassRows(sql: Sql, classIds: readonly string[]): Promise<readonly ActorRow[]> {
  if (classIds.length === 0) return Promise.resolve([])
  return prepared<ActorRow>(sql, CLASSES_LOOK_UP, [texts(classIds)])
}

/** By class ID. Its key must have been fetched. Throws UnreadableRow. */
export function classFactsOf(row: ActorRow, vault: RowVault): readonly [string, ClassFacts] {
  const { classId, issuer, status } = stateOf('class', row, vault)
  if (status !== 'active') throw new UnreadableRow(`actors ${row.actor_id}`, 'its columns are not what was sealed')
  return [classId, { classId, issuer }]
}

export const MINTED_LOOK_UP = `
SELECT a.actor_id
  FROM unnest($1::integer[], $2::text[]) AS i (shard_id, actor_id)
  JOIN actors a ON a.shard_id = i.shard_id AND a.kind = 'instance' AND a.actor_id = i.actor_id AND a.status <> 'minting'`

/** Of these instances the IDs of those that were minted, burned ones among them. */
export async function findMinted(sql: Sql, instances: readonly HomedActor[]): Promise<Set<string>> {
  if (instances.length === 0) return new Set()
  const ids = texts(instances.map(({ address }) => address.id))
  const rows = await prepared<{ readonly actor_id: string }>(sql, MINTED_LOOK_UP, [shardIds(instances), ids])
  return new Set(rows.map((row) => row.actor_id))
}
