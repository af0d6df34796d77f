/** Actors that are no accounts: their states as they were written. */
import { actorKey } from '../../../actors/address.ts'
import { type ActorState, addressOfState } from '../../../actors/actor-state.ts'
import type { HomedActor } from '../../../runtime/ports/ledger-store.ts'
import type { RowVault } from '../../vault/row-vault.ts'
import { type ActorRow, keyNameOfActorRow, openActor } from '../rows/actor-documents.ts'
import type { Sql } from '../connection/connection.ts'
import { shardIds, texts } from './look-up-parameters.ts'
import { prepared } from '../connection/prepared.ts'

export const ACTORS_LOOK_UP = `
SELECT a.shard_id, a.kind, a.actor_id, a.version, a.class_id, a.document
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
