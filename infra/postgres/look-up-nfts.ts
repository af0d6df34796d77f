/** What never changes of NFTs: whose a registered class is, and that an instance was minted. No document is read. */
import type { ClassFacts } from '../../actors/nft-class/state.ts'
import type { HomedActor } from '../../runtime/ports/ledger-store.ts'
import type { Sql } from './connection.ts'
import { shardIds, texts } from './look-up-parameters.ts'

export const CLASSES_LOOK_UP = `
SELECT a.class_id, a.issuer
  FROM unnest($1::text[]) AS i (class_id)
  JOIN actors a ON a.class_id = i.class_id AND a.kind = 'class' AND a.status = 'active'`

/** By class ID. */
export async function findClasses(sql: Sql, classIds: readonly string[]): Promise<Map<string, ClassFacts>> {
  if (classIds.length === 0) return new Map()
  const rows = await sql.unsafe<{ readonly class_id: string; readonly issuer: string }[]>(
    CLASSES_LOOK_UP,
    [texts(classIds)],
    { prepare: true },
  )
  return new Map(rows.map(({ class_id: classId, issuer }) => [classId, { classId, issuer }] as const))
}

export const MINTED_LOOK_UP = `
SELECT a.actor_id
  FROM unnest($1::integer[], $2::text[]) AS i (shard_id, actor_id)
  JOIN actors a ON a.shard_id = i.shard_id AND a.kind = 'instance' AND a.actor_id = i.actor_id AND a.status <> 'minting'`

/** Of these instances the IDs of those that were minted, burned ones among them. */
export async function findMinted(sql: Sql, instances: readonly HomedActor[]): Promise<Set<string>> {
  if (instances.length === 0) return new Set()
  const ids = texts(instances.map(({ address }) => address.id))
  const rows = await sql.unsafe<{ readonly actor_id: string }[]>(MINTED_LOOK_UP, [shardIds(instances), ids], {
    prepare: true,
  })
  return new Set(rows.map((row) => row.actor_id))
}
