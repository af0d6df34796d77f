/** Tables of a shard whose texts are sealed one by one: all but accounts with their balances and holds. */
import { accountKeyName, type KeyName, shardKeyName } from '../vault/key-name.ts'
import type { Place } from '../vault/place.ts'
import { plainText } from '../vault/row-vault.ts'
import { type ActorRow, keyNameOfActorRow } from './actor-documents.ts'
import { arrayLiteral, type LiteralType } from './array-literal.ts'
import { inBatches, type ShardSealer } from './encrypt-sealer.ts'
import { nftKeyName, PLACES } from './row-sealer.ts'

interface Described<Row> {
  readonly table: string
  /** What names a row within its shard. */
  readonly id: Readonly<Partial<Record<keyof Row & string, LiteralType>>>
  /** Other columns that its name or its place is made of. */
  readonly beside?: readonly (keyof Row & string)[]
  /** By column. */
  readonly places: Readonly<Record<string, (row: Row, shardId: number) => Place>>
  readonly nameOf: (row: Row, shardId: number) => KeyName
  readonly batchRows: number
}

/** Of rows that have some hundred bytes, or a few thousand. */
const BATCH_ROWS = 1_000
/** Of rows that may have 64 KiB and more. */
const LARGE_ROWS = 100

/** Gives what encrypts the table's rows of a shard. */
function table<Row extends object>(described: Described<Row>): (sealer: ShardSealer) => Promise<void> {
  const { nameOf, batchRows, beside = [] } = described
  const id = Object.entries(described.id) as [keyof Row & string, LiteralType][]
  const places = Object.entries(described.places)
  const names = id.map(([name]) => name)
  const texts = places.map(([name]) => name)
  const arrays = [...id.map(([, type]) => type), ...texts.map(() => 'bytea')].map((type, at) => `$${at + 2}::${type}[]`)
  const select = `SELECT ${[...names, ...beside, ...texts].join(', ')} FROM ${described.table} WHERE shard_id = $1::integer`
  const update = `
UPDATE ${described.table} t SET ${texts.map((name) => `${name} = i.${name}`).join(', ')}
  FROM unnest(${arrays.join(', ')}) AS i (${[...names, ...texts].join(', ')})
 WHERE t.shard_id = $1::integer AND ${names.map((name) => `t.${name} = i.${name}`).join(' AND ')}`

  return (sealer) =>
    inBatches<Row>(sealer, select, batchRows, async (rows) => {
      const { sql, shardId, vault, made } = sealer
      await sealer.demandKeys(rows.map((row) => nameOf(row, shardId)))
      const sealed = (row: Row, column: string, placeOf: (row: Row, shardId: number) => Place): string | null => {
        const bytes = (row as Readonly<Record<string, Buffer | null>>)[column] ?? null
        return bytes && vault.seal(nameOf(row, shardId), placeOf(row, shardId), plainText(bytes), made)
      }
      const ids = id.map(([name, type]) => columnOf(type, rows, (row) => String(row[name])))
      const documents = places.map(([name, placeOf]) => columnOf('bytea', rows, (row) => sealed(row, name, placeOf)))
      await sql.unsafe(update, [shardId, ...ids, ...documents], { prepare: true })
    })
}

function columnOf<Row>(type: LiteralType, rows: readonly Row[], value: (row: Row) => string | null): string {
  return arrayLiteral(type, rows.map(value))
}

interface OfAccount {
  readonly account_id: string
}

function nameOfAccount({ account_id: ref }: OfAccount): KeyName {
  return accountKeyName(ref)
}

export const ENCRYPTED_TABLES: readonly ((sealer: ShardSealer) => Promise<void>)[] = [
  table<OfAccount & { readonly from_sequence: string }>({
    table: 'account_keys',
    id: { account_id: 'text', from_sequence: 'bigint' },
    places: {
      document: (row, shardId) => PLACES.key(shardId, row.account_id, Number(row.from_sequence)),
    },
    nameOf: nameOfAccount,
    batchRows: BATCH_ROWS,
  }),
  table<OfAccount & { readonly sequence: string }>({
    table: 'audit_entries',
    id: { account_id: 'text', sequence: 'bigint' },
    places: { payload: (row, shardId) => PLACES.entry(shardId, row.account_id, Number(row.sequence)) },
    nameOf: nameOfAccount,
    batchRows: BATCH_ROWS,
  }),
  table<OfAccount & { readonly txn_id: string }>({
    table: 'transactions',
    id: { txn_id: 'text' },
    beside: ['account_id'],
    places: {
      document: (row, shardId) => PLACES.transaction(shardId, row.account_id, row.txn_id),
      outcome: (row, shardId) => PLACES.outcome(shardId, row.account_id, row.txn_id),
    },
    nameOf: nameOfAccount,
    batchRows: BATCH_ROWS,
  }),
  table<OfAccount & { readonly operation: string; readonly idempotency_key: string }>({
    table: 'operations',
    id: { account_id: 'text', operation: 'text', idempotency_key: 'text' },
    places: {
      document: (row, shardId) => PLACES.operation(shardId, row.account_id, row.operation, row.idempotency_key),
    },
    nameOf: nameOfAccount,
    batchRows: BATCH_ROWS,
  }),
  table<ActorRow>({
    table: 'actors',
    id: { kind: 'text', actor_id: 'text' },
    beside: ['shard_id', 'version', 'class_id'],
    places: { document: (row, shardId) => PLACES.actor(shardId, row.kind, row.actor_id, Number(row.version)) },
    nameOf: keyNameOfActorRow,
    batchRows: LARGE_ROWS,
  }),
  table<{ readonly nft_id: string; readonly number: number }>({
    table: 'nft_events',
    id: { nft_id: 'text', number: 'integer' },
    places: { payload: (row, shardId) => PLACES.nftEvent(shardId, row.nft_id, row.number) },
    nameOf: (row, shardId) => nftKeyName(row.nft_id, shardId),
    batchRows: LARGE_ROWS,
  }),
  table<{ readonly target_shard: number; readonly number: string }>({
    table: 'outbox',
    id: { target_shard: 'integer', number: 'bigint' },
    places: { message: (row, shardId) => PLACES.message(shardId, row.target_shard, Number(row.number)) },
    nameOf: (_row, shardId) => shardKeyName(shardId),
    batchRows: BATCH_ROWS,
  }),
]
