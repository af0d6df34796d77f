/**
 * Whether a database of a test is still what it was made as, and how it becomes that again: cheaper than a new copy.
 *   C1. The schema is never mended. A database in which any row of a system catalog came, went or changed (tables, columns,
 *       indexes, triggers, functions, privileges, statistics, its own settings) is given up, and it is said why.
 *   C2. A table is left alone only when none of its rows came, went or changed since, nor its file, nor what the planner
 *       knows of it. Any other is emptied by TRUNCATE, which leaves no dead rows, and filled with the rows that it had.
 *   C3. Sequences go on from where they stood, and the server's counters of the database from nothing.
 * Rows are compared by the transaction that wrote them: of all that were there when the condition was noted, none is
 * younger than it. Numbers of transactions only grow, and a server of the tests never uses up half of them.
 */
import type postgres from 'postgres'

/** Inside a transaction of a database that nobody else is connected to. */
export type Inside = Pick<postgres.Sql, 'unsafe'>

export interface Condition {
  /** The transaction in which it was noted. */
  readonly xid: string
  /** Numbers of rows by catalog, and settings. */
  readonly schema: ReadonlyMap<string, string>
  readonly tables: ReadonlyMap<string, string>
  readonly sequences: ReadonlyMap<string, string>
}

/** By table: those that it has, as an array's text, in the order in which they lie there. */
export type Rows = ReadonlyMap<string, string>

export async function noteCondition(sql: Inside): Promise<Condition> {
  const xid = await currentXid(sql)
  return {
    xid,
    schema: await readSchema(sql, xid),
    tables: await readTables(sql, xid),
    sequences: await readSequences(sql),
  }
}

export async function currentXid(sql: Inside): Promise<string> {
  const [row] = await sql.unsafe<{ xid: string }[]>('SELECT pg_current_xact_id()::xid::text AS xid')
  if (row === undefined) throw new Error('there is no transaction')
  return row.xid
}

/** Of all tables that have any. */
export async function readRows(sql: Inside): Promise<Rows> {
  const rows = new Map<string, string>()
  for (const { name, bytes } of await filesOf(sql)) {
    if (bytes === '0') continue
    const [kept] = await sql.unsafe<{ rows: string | null }[]>(
      `SELECT array_agg(kept ORDER BY kept.ctid)::text AS rows FROM ${name} AS kept`,
    )
    if (typeof kept?.rows === 'string') rows.set(name, kept.rows)
  }
  return rows
}

/** Returns what makes it another database (C1), and then leaves it as it is; otherwise undefined. */
export async function restore(sql: Inside, made: Condition, rows: Rows): Promise<string | undefined> {
  const different = firstDifference(made.schema, await readSchema(sql, made.xid))
  if (different !== undefined) return different
  const tables = await readTables(sql, made.xid)
  const written = [...tables].flatMap(([name, state]) => (made.tables.get(name) === state ? [] : [name]))
  if (written.length > 0) await sql.unsafe(`TRUNCATE ${written.join(', ')}`)
  for (const name of written) {
    const kept = rows.get(name)
    if (kept === undefined) continue
    const query = `INSERT INTO ${name} OVERRIDING SYSTEM VALUE SELECT * FROM unnest($1::text::${name}[])`
    await sql.unsafe(query, [kept])
  }
  for (const [name, state] of await readSequences(sql)) {
    const before = made.sequences.get(name)
    if (before === undefined || before === state) continue
    const [value, isCalled] = before.split(' ')
    await sql.unsafe(`SELECT setval('${name}', ${value}, '${isCalled}')`)
  }
  await sql.unsafe('SELECT pg_stat_reset()')
  return undefined
}

function firstDifference(before: ReadonlyMap<string, string>, after: ReadonlyMap<string, string>): string | undefined {
  return [...new Set([...before.keys(), ...after.keys()])].find((name) => before.get(name) !== after.get(name))
}

/** How many rows, and how many of them were written since `xid`: none while it is being noted. */
const COUNTED = (xid: string): string =>
  `concat_ws(' ', count(*), nullif(count(*) FILTER (WHERE age(xmin) < age('${xid}'::xid)), 0))`

interface State {
  readonly name: string
  readonly state: string
}

/** The server may look at its own catalogs whenever it likes: numbers below are theirs (FirstNormalObjectId). */
const OF_TESTS: ReadonlyMap<string, string> = new Map([['pg_statistic', 'WHERE starelid >= 16384']])

async function readSchema(sql: Inside, xid: string): Promise<ReadonlyMap<string, string>> {
  const catalogs = await sql.unsafe<{ name: string }[]>(`
    SELECT relname AS name FROM pg_class
     WHERE relnamespace = 'pg_catalog'::regnamespace AND relkind = 'r' AND NOT relisshared`)
  const counts = catalogs.map(
    ({ name }) =>
      `SELECT '${name}' AS name, ${COUNTED(xid)} AS state FROM pg_catalog.${name} ${OF_TESTS.get(name) ?? ''}`,
  )
  const states = await sql.unsafe<State[]>([...counts, ...OF_THE_SERVER].join(' UNION ALL '))
  return new Map(states.map(({ name, state }) => [name, state]))
}

/** What catalogs that all databases share say of this one; but for its name. */
const OF_THE_SERVER: readonly string[] = [
  `SELECT 'pg_database', concat_ws(' ', datdba, datistemplate, datallowconn, datconnlimit, dattablespace, datacl,
                                   shobj_description(oid, 'pg_database'))
     FROM pg_database WHERE datname = current_database()`,
  ...[
    `pg_db_role_setting AS found WHERE setdatabase = THIS`,
    `pg_shdepend AS found WHERE dbid = THIS`,
    `pg_subscription AS found WHERE subdbid = THIS`,
    `pg_prepared_xacts AS found WHERE database = current_database()`,
    `pg_replication_slots AS found WHERE database = current_database()`,
  ].map((found) => {
    const of = found.replace('THIS', '(SELECT oid FROM pg_database WHERE datname = current_database())')
    return `SELECT '${found}', coalesce(string_agg(found::text, ' ' ORDER BY found::text), '') FROM ${of}`
  }),
]

interface TableFile {
  readonly name: string
  readonly bytes: string
  /** What the planner knows: its pages and rows. */
  readonly planned: string
}

/** Information schema's own among them. */
function filesOf(sql: Inside): PromiseLike<readonly TableFile[]> {
  return sql.unsafe<TableFile[]>(`
    SELECT oid::regclass::text AS name, pg_relation_size(oid)::text AS bytes, concat(relpages, ' ', reltuples) AS planned
      FROM pg_class WHERE relkind = 'r' AND relnamespace <> 'pg_catalog'::regnamespace`)
}

async function readTables(sql: Inside, xid: string): Promise<ReadonlyMap<string, string>> {
  const files = await filesOf(sql)
  const counts = files
    .filter(({ bytes }) => bytes !== '0')
    .map(({ name }) => `SELECT '${name}' AS name, ${COUNTED(xid)} AS state FROM ${name}`)
  const states = counts.length === 0 ? [] : await sql.unsafe<State[]>(counts.join(' UNION ALL '))
  const counted = new Map(states.map(({ name, state }) => [name, state]))
  return new Map(files.map(({ name, bytes, planned }) => [name, `${bytes} ${planned} ${counted.get(name) ?? ''}`]))
}

async function readSequences(sql: Inside): Promise<ReadonlyMap<string, string>> {
  const names = await sql.unsafe<{ name: string }[]>(
    `SELECT oid::regclass::text AS name FROM pg_class WHERE relkind = 'S'`,
  )
  const looks = names.map(
    ({ name }) => `SELECT '${name}' AS name, concat(last_value, ' ', is_called) AS state FROM ${name}`,
  )
  if (looks.length === 0) return new Map()
  const states = await sql.unsafe<State[]>(looks.join(' UNION ALL '))
  return new Map(states.map(({ name, state }) => [name, state]))
}
