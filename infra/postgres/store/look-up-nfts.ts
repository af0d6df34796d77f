/** Facts of NFTs that never change: the issuer of a class, and that an instance was minted. Reads no document of an instance. */
import type { ClassFacts } from '../../../actors/nft-class/state.ts'
import type { HomedActor } from '../../../runtime/ports/ledger-store.ts'
import type { RowVault } from '../../vault/row-vault.ts'
import { UnreadableRow } from '../../vault/unreadable-row.ts'
import { type ActorRow, stateOf } from '../rows/actor-documents.ts'
import type { Sql } from '../connection/connection.ts'
import { shardIds, texts } from './look-up-parameters.ts'
import { prepared } from '../connection/prepared.ts'

export const CLASSES_LOOK_UP = `
SELECT a.shard_id, a.kind, a.actor_id, a.version, a.class_id, a.document
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
