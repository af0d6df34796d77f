/** Actors that are no accounts: their states as they were written. */
import { actorKey } from '../../actors/address.ts'
import { type ActorState, addressOfState } from '../../actors/actor-state.ts'
import type { HomedActor } from '../../runtime/ports/ledger-store.ts'
import type { Sql } from './connection.ts'
import { shardIds, texts } from './look-up-parameters.ts'

export const ACTORS_LOOK_UP = `
SELECT a.document
  FROM unnest($1::integer[], $2::text[], $3::text[]) AS i (shard_id, kind, actor_id)
  JOIN actors a ON a.shard_id = i.shard_id AND a.kind = i.kind AND a.actor_id = i.actor_id`

/** By `actorKey`. */
export async function findActors(sql: Sql, actors: readonly HomedActor[]): Promise<Map<string, ActorState>> {
  if (actors.length === 0) return new Map()
  const kinds = texts(actors.map(({ address }) => address.kind))
  const ids = texts(actors.map(({ address }) => address.id))
  const rows = await sql.unsafe<{ readonly document: string }[]>(ACTORS_LOOK_UP, [shardIds(actors), kinds, ids], {
    prepare: true,
  })
  return new Map(
    rows.map((row) => {
      const state = JSON.parse(row.document) as ActorState
      return [actorKey(addressOfState(state)), state] as const
    }),
  )
}
