/** Creates the first data keys of a ledger: one for each shard, and one for rows without a shard. */
import type postgres from 'postgres'
import { type KeyName, LEDGER_KEY_NAME, partsOf, shardKeyName } from './key-name.ts'
import { type KeyWrapping, newDataKey } from './key-wrapping.ts'

export async function createFirstKeys(sql: postgres.ISql, wrapping: KeyWrapping, shardCount: number): Promise<void> {
  const rows = Array.from({ length: shardCount }, (_, shardId) => rowOf(shardId, shardKeyName(shardId), wrapping))
  for (const row of [...rows, rowOf(0, LEDGER_KEY_NAME, wrapping)]) {
    await sql`INSERT INTO data_keys ${sql(row)}`
  }
}

function rowOf(shardId: number, name: KeyName, wrapping: KeyWrapping) {
  const { scope, ref } = partsOf(name)
  const { masterKeyId, wrapped } = wrapping.wrap(name, newDataKey())
  return { shard_id: shardId, scope, ref, master_key_id: masterKeyId, wrapped }
}
