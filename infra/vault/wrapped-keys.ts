/**
 * Rewraps the keys in a table that an earlier master key wrapped, in batches.
 *   W1. A row changes only if it still has the wrapped bytes that were read. So a destroyed key stays destroyed, and
 *       concurrent rotations do not undo each other.
 *   W2. It waits for no lock and so causes no deadlock with commits. Locked rows are left for a later run.
 */
import { arrayLiteral } from '../postgres/connection/array-literal.ts'
import type { Sql } from '../postgres/connection/connection.ts'
import { attestationKeyName, type KeyName } from './key-name.ts'
import type { KeyWrapping } from './key-wrapping.ts'
import { prepared } from '../postgres/connection/prepared.ts'

/** A table with a wrapped key in each row. */
export interface WrappedKeys {
  readonly table: string
  /** The columns of the primary key, all of type text. */
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
/** Occurs in no ID. */
const SEPARATOR = '\u001f'

/** The number of rows by ID of the master key. */
export async function countWrapped(sql: Sql, { table }: WrappedKeys): Promise<ReadonlyMap<string, number>> {
  const rows = await sql<{ master_key_id: string; count: string }[]>`
    SELECT master_key_id, count(*) AS count FROM ${sql(table)} GROUP BY master_key_id`
  return new Map(rows.map((row) => [row.master_key_id, Number(row.count)]))
}

/**
 * Walks the table once. Stops after about `most` rows, because other processes may keep adding some. Returns the number of
 * changed rows, and passes it to `onBatch` after each batch. Throws MasterKeyMissing, and SealBroken for a damaged key.
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
    const rows = read.map((row) => ({ ...row, id: row.id.split(SEPARATOR) }))
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
  /** The columns of the primary key, joined. */
  readonly id: string
  readonly master_key_id: string
  readonly wrapped: Buffer
}

/** The first page begins after an ID of empty columns, which no row has. */
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
