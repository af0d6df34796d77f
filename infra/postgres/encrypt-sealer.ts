/** What the rows of a shard are sealed with while it is being encrypted, and how they are read. */
import type postgres from 'postgres'
import { createDataKeys, type MadeKey } from '../vault/data-keys.ts'
import { type KeyName, partsOf } from '../vault/key-name.ts'
import type { KeyWrapping } from '../vault/key-wrapping.ts'
import { createRowVault, type RowVault } from '../vault/row-vault.ts'
import { arrayLiteral } from './array-literal.ts'

export interface EncryptionKeys {
  readonly wrapping: KeyWrapping
  /** 32 bytes. */
  readonly indexSecret: Buffer
}

/** What the rows of a shard are sealed with, inside its transaction. */
export interface ShardSealer {
  readonly shardId: number
  readonly sql: postgres.TransactionSql
  readonly vault: RowVault
  readonly made: ReadonlyMap<KeyName, MadeKey>
  /** Makes those keys that are not there yet. */
  readonly demandKeys: (names: readonly KeyName[]) => Promise<void>
  readonly onRows: (count: number) => void
}

export function createShardSealer(
  sql: postgres.TransactionSql,
  shardId: number,
  { wrapping, indexSecret }: EncryptionKeys,
  onRows: (count: number) => void,
): ShardSealer {
  // Of this transaction: what it makes is of no use if it does not commit.
  const keys = createDataKeys(wrapping)
  const vault = createRowVault(keys, indexSecret)
  const made = new Map<KeyName, MadeKey>()
  const demandKeys = async (names: readonly KeyName[]): Promise<void> => {
    const asked = [...new Set(names)].filter((name) => !made.has(name) && keys.known(name) === undefined)
    if (asked.length === 0) return
    const inserted = await insertKeys(sql, shardId, asked.map(keys.make))
    for (const key of inserted) made.set(key.name, key)
    await keys.fetch(
      sql,
      asked.filter((name) => !made.has(name)),
    )
  }
  return { shardId, sql, vault, made, demandKeys, onRows }
}

/** Returns those that were not there. */
async function insertKeys(
  sql: postgres.TransactionSql,
  shardId: number,
  keys: readonly MadeKey[],
): Promise<readonly MadeKey[]> {
  const texts = (value: (key: MadeKey) => string): string => arrayLiteral('text', keys.map(value))
  const wrapped = arrayLiteral(
    'bytea',
    keys.map((key) => key.wrapped.wrapped.toString('hex')),
  )
  const rows = await sql.unsafe<{ readonly scope: string; readonly ref: string }[]>(
    `INSERT INTO data_keys (shard_id, scope, ref, master_key_id, wrapped)
     SELECT $1::integer, i.scope, i.ref, i.master_key_id, i.wrapped
       FROM unnest($2::text[], $3::text[], $4::text[], $5::bytea[]) AS i (scope, ref, master_key_id, wrapped)
      ORDER BY i.scope, i.ref
     ON CONFLICT DO NOTHING RETURNING scope, ref`,
    [
      shardId,
      texts(({ name }) => partsOf(name).scope),
      texts(({ name }) => partsOf(name).ref),
      texts((key) => key.wrapped.masterKeyId),
      wrapped,
    ],
    { prepare: true },
  )
  const inserted = new Set(rows.map(({ scope, ref }) => `${scope} ${ref}`))
  return keys.filter(({ name }) => inserted.has(name))
}

/** Rows as they were when it began. `select` takes the shard as `$1`. */
export async function inBatches<Row extends object>(
  { sql, shardId, onRows }: ShardSealer,
  select: string,
  batchRows: number,
  take: (rows: readonly Row[]) => Promise<void>,
): Promise<void> {
  await sql.unsafe(`DECLARE encrypting NO SCROLL CURSOR FOR ${select}`, [shardId])
  for (;;) {
    const rows = await sql.unsafe<Row[]>(`FETCH ${batchRows} FROM encrypting`)
    if (rows.length > 0) await take(rows)
    onRows(rows.length)
    if (rows.length < batchRows) break
  }
  await sql.unsafe('CLOSE encrypting')
}
