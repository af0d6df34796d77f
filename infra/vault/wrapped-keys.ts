/**
 * Wraps what a master key before the current one wrapped anew, a batch at a time, where keys stand in tables.
 *   W1. A row is changed only where it still holds the wrapped bytes that were read: a key that was destroyed meanwhile
 *       stays destroyed, and two that do this at once do not undo each other.
 *   W2. It waits for no lock, so that no commit can wait for it in a circle: rows that are locked are left for later.
 */
import { arrayLiteral } from '../postgres/connection/array-literal.ts'
import type { Sql } from '../postgres/connection/connection.ts'
import { attestationKeyName, type KeyName } from './key-name.ts'
import type { KeyWrapping } from './key-wrapping.ts'
import { prepared } from '../postgres/connection/prepared.ts'

/** A table with a wrapped key in each row. */
export interface WrappedKeys {
  readonly table: string
  /** The primary key, all of it text. */
  readonly id: readonly string[]
  readonly wrapped: string
  readonly nameOf: (id: readonly string[]) => KeyName
}

export const DATA_KEYS: WrappedKeys = {
  table: 'data_keys',
  id: ['scope', 'ref'],
  wrapped: 'wrapped',
  nameOf: (id) => id.join(' ') as KeyName,
}

export const ATTESTATION_KEYS: WrappedKeys = {
  table: 'attestations',
  id: ['attestation_id'],
  wrapped: 'wrapped_key',
  nameOf: ([id = '']) => attestationKeyName(id),
}

const BATCH = 1_000
/** In no ID. */
const BETWEEN = '\u001f'

/** How many rows each master key wrapped, by its ID. */
export async function countWrapped(sql: Sql, { table }: WrappedKeys): Promise<ReadonlyMap<string, number>> {
  const rows = await sql<{ master_key_id: string; count: string }[]>`
    SELECT master_key_id, count(*) AS count FROM ${sql(table)} GROUP BY master_key_id`
  return new Map(rows.map((row) => [row.master_key_id, Number(row.count)]))
}

/**
 * Once through the table, over little more than `most` rows: others may make more all the time. Returns how many rows were
 * changed; `onBatch` is told how many so far.
 * Throws MasterKeyMissing, and SealBroken for a key that was damaged.
 */
export async function rewrapAll(
  sql: Sql,
  keys: WrappedKeys,
  wrapping: KeyWrapping,
  most: number,
  onBatch: (done: number) => void,
): Promise<number> {
  let done = 0
  let seen = 0
  let after = keys.id.map(() => '')
  while (seen < most) {
    const read = await prepared<WrappedRow>(sql, selectOf(keys), [wrapping.masterKeyId, ...after])
    const rows = read.map((row) => ({ ...row, id: row.id.split(BETWEEN) }))
    const last = rows.at(-1)
    if (last === undefined) return done
    done += await rewrapRows(sql, keys, wrapping, rows)
    onBatch(done)
    seen += rows.length
    after = last.id
  }
  return done
}

interface WrappedRow {
  /** Its columns, joined. */
  readonly id: string
  readonly master_key_id: string
  readonly wrapped: Buffer
}

/** No row has an ID that is empty in every column. */
function selectOf({ table, id, wrapped }: WrappedKeys): string {
  const parameters = id.map((_, index) => `$${index + 2}::text`)
  return `
SELECT concat_ws(E'\\x1f', ${id.join(', ')}) AS id, master_key_id, ${wrapped} AS wrapped FROM ${table}
 WHERE master_key_id <> $1 AND (${id.join(', ')}) > (${parameters.join(', ')})
 ORDER BY ${id.join(', ')} LIMIT ${BATCH}`
}

async function rewrapRows(
  sql: Sql,
  keys: WrappedKeys,
  wrapping: KeyWrapping,
  rows: readonly (Omit<WrappedRow, 'id'> & { readonly id: readonly string[] })[],
): Promise<number> {
  const after = rows.map(({ id, master_key_id: masterKeyId, wrapped }) => {
    const name = keys.nameOf(id)
    const key = wrapping.unwrap(name, { masterKeyId, wrapped })
    const rewrapped = wrapping.wrap(name, key).wrapped.toString('hex')
    key.fill(0)
    return rewrapped
  })
  const columns = keys.id.map((_, column) =>
    arrayLiteral(
      'text',
      rows.map(({ id }) => id[column] ?? ''),
    ),
  )
  const before = rows.map(({ wrapped }) => wrapped.toString('hex'))
  const parameters = [wrapping.masterKeyId, arrayLiteral('bytea', before), arrayLiteral('bytea', after), ...columns]
  return (await sql.unsafe(updateOf(keys), parameters, { prepare: true })).count
}

/** W1, W2. */
function updateOf({ table, id, wrapped }: WrappedKeys): string {
  const arrays = id.map((_, index) => `$${index + 4}::text[]`)
  const same = (left: string, right: string): string =>
    id.map((name) => `${left}.${name} = ${right}.${name}`).join(' AND ')
  return `
WITH given AS (
  SELECT * FROM unnest($2::bytea[], $3::bytea[], ${arrays.join(', ')}) AS i (before, after, ${id.join(', ')})),
free AS (
  SELECT i.after, ${id.map((name) => `k.${name}`).join(', ')} FROM given i JOIN ${table} k ON ${same('k', 'i')}
   WHERE k.${wrapped} = i.before FOR NO KEY UPDATE OF k SKIP LOCKED)
UPDATE ${table} k SET master_key_id = $1, ${wrapped} = f.after FROM free f WHERE ${same('k', 'f')}`
}
