/** Goal: what a test gets from the pool is as new, whatever the test before it did (database-pool.ts). */
import postgres from 'postgres'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { connect } from '../../infra/postgres/connection.ts'
import { createAuditedLedger, everythingOnce, Parties, type AuditedLedger } from '../support/audited-ledger.ts'
import { noteCondition, restore } from '../support/database-condition.ts'
import { createDatabasePool, type DatabasePool, type LentDatabase } from '../support/database-pool.ts'
import { createLedgerDatabase } from '../support/ledger-database.ts'

let ledger: AuditedLedger
/** A copy, whose counters of writes begin at nothing: the server does not come to count its rows meanwhile. */
let original: LentDatabase
let originals: DatabasePool
let pool: DatabasePool
let asNew: Content
beforeAll(async () => {
  ledger = await createAuditedLedger()
  await everythingOnce(new Parties(ledger), 'pool')
  await ledger.sql`SELECT nextval('liability_runs_run_id_seq')`
  await ledger.leave()
  originals = poolOf(ledger.url)
  original = await originals.take()
  pool = poolOf(original.url)
  const first = await pool.take()
  asNew = await on(first.url, contentOf)
  await first.drop()
})
afterAll(async () => {
  await pool.close()
  await original.drop()
  await originals.close()
  await ledger.close()
})

function poolOf(url: string): DatabasePool {
  const server = new URL(url)
  server.pathname = '/postgres'
  return createDatabasePool({ serverUrl: server.toString(), original: nameOf(url), prefix: 'pool' })
}

function nameOf(url: string): string {
  return new URL(url).pathname.slice(1)
}

async function on<T>(url: string, work: (sql: postgres.Sql) => Promise<T>): Promise<T> {
  const sql = postgres(url, { max: 1, onnotice: () => undefined })
  try {
    return await work(sql)
  } finally {
    await sql.end()
  }
}

/** The number that PostgreSQL gave the database when it was made: another name leaves it. */
async function numberOf(sql: postgres.Sql): Promise<unknown> {
  const [row] = await sql`SELECT oid FROM pg_database WHERE datname = current_database()`
  return row?.['oid']
}

async function tablesOf(sql: postgres.Sql): Promise<readonly string[]> {
  const rows = await sql<{ name: string }[]>`
    SELECT oid::regclass::text AS name FROM pg_class
     WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace ORDER BY 1`
  return rows.map(({ name }) => name)
}

/** By what it is of: all that tests may meet. */
type Content = ReadonlyMap<string, readonly string[]>

async function contentOf(sql: postgres.Sql): Promise<Content> {
  const content = new Map<string, readonly string[]>()
  const rows = (await tablesOf(sql)).map(
    (table) => [table, `SELECT t::text AS text FROM ${table} AS t ORDER BY 1`] as const,
  )
  for (const [what, query] of [...rows, ...LOOKS]) {
    content.set(
      what,
      (await sql.unsafe<{ text: string }[]>(query)).map(({ text }) => text),
    )
  }
  return content
}

/** What two are not alike in. */
function differences(one: Content, other: Content): readonly string[] {
  const names = [...new Set([...one.keys(), ...other.keys()])]
  return names.filter((name) => JSON.stringify(one.get(name)) !== JSON.stringify(other.get(name)))
}

const LOOKS: readonly (readonly [what: string, query: string])[] = [
  [
    'relations',
    `SELECT concat_ws(' ', oid::regclass, relkind, relacl, CASE relkind WHEN 'r' THEN concat(relpages, ' ', reltuples) END,
                      relhastriggers) AS text
            FROM pg_class WHERE relnamespace = 'public'::regnamespace ORDER BY 1`,
  ],
  [
    'columns',
    `SELECT concat_ws(' ', a.attrelid::regclass, attnum, attname, atttypid::regtype, attnotnull, attacl, attisdropped,
                      pg_get_expr(adbin, adrelid)) AS text
       FROM pg_attribute AS a LEFT JOIN pg_attrdef ON adrelid = a.attrelid AND adnum = attnum
      WHERE a.attrelid IN (SELECT oid FROM pg_class WHERE relnamespace = 'public'::regnamespace) ORDER BY 1`,
  ],
  ['indexes', `SELECT indexdef AS text FROM pg_indexes WHERE schemaname = 'public' ORDER BY 1`],
  ['constraints', `SELECT concat(conname, pg_get_constraintdef(oid)) AS text FROM pg_constraint ORDER BY 1`],
  ['triggers', `SELECT tgname::text AS text FROM pg_trigger ORDER BY 1`],
  ['functions', `SELECT concat(oid::regprocedure, ' ', proacl) AS text FROM pg_proc ORDER BY 1`],
  ['schemas', `SELECT concat(nspname, ' ', nspacl) AS text FROM pg_namespace ORDER BY 1`],
  ['types', `SELECT typname::text AS text FROM pg_type ORDER BY 1`],
  ['sequences', `SELECT s::text AS text FROM pg_sequences AS s ORDER BY 1`],
  ['statistics', `SELECT concat(tablename, ' ', attname) AS text FROM pg_stats ORDER BY 1`],
  ['comments', `SELECT description AS text FROM pg_description WHERE objoid >= 16384 ORDER BY 1`],
  ['large objects', `SELECT oid::text AS text FROM pg_largeobject_metadata`],
  ['privileges to come', `SELECT d::text AS text FROM pg_default_acl AS d`],
  [
    'settings',
    `SELECT concat_ws(' ', datconnlimit, datacl, (SELECT setconfig FROM pg_db_role_setting WHERE setdatabase = d.oid))
            AS text FROM pg_database AS d WHERE datname = current_database()`,
  ],
]

/** In what a database differs after the work, in what the next one does, and whether that is the same one. */
async function afterWork(work: (sql: postgres.Sql) => Promise<unknown>) {
  const used = await pool.take()
  const { number, changed } = await on(used.url, async (sql) => {
    await work(sql)
    return { number: await numberOf(sql), changed: differences(asNew, await contentOf(sql)) }
  })
  await used.drop()
  const before = pool.givenUp.length
  const next = await pool.take()
  const seen = await on(next.url, async (sql) => ({
    different: differences(asNew, await contentOf(sql)),
    isSame: (await numberOf(sql)) === number,
  }))
  await next.drop()
  return { changed, next: { ...seen, givenUp: pool.givenUp.length - before } }
}

const run = (statement: string) => (sql: postgres.Sql) => sql.unsafe(statement)

describe('C2: what was written is as it was, in the database that was used', () => {
  const inEveryTable = (statement: (table: string) => string) => async (sql: postgres.Sql) => {
    for (const table of await tablesOf(sql)) await sql.unsafe(statement(table))
  }
  const WRITTEN: readonly (readonly [what: string, work: (sql: postgres.Sql) => Promise<unknown>])[] = [
    ['a row of every table that went', inEveryTable((table) => `DELETE FROM ${table} WHERE ctid = '(0,1)'`)],
    ['every row', inEveryTable((table) => `DELETE FROM ${table}`)],
    [
      'all that was there, by TRUNCATE of a table made since',
      run('CREATE TABLE kept AS TABLE holds; DROP TABLE kept; DELETE FROM balances'),
    ],
    ['a row that came', run(`INSERT INTO drained_nodes SELECT 'node', now()`)],
    ['a row that changed', run('UPDATE accounts SET version = version + 1')],
    [
      'a row in place of one that went',
      run(`WITH gone AS (DELETE FROM shards WHERE shard_id = 3 RETURNING *)
           INSERT INTO shards (shard_id, epoch) SELECT shard_id, epoch + 9 FROM gone`),
    ],
    ['a sequence', run(`SELECT nextval('liability_runs_run_id_seq'), nextval('liability_runs_run_id_seq')`)],
  ]
  test.for(WRITTEN)('%s', async ([, work]) => {
    const { changed, next } = await afterWork(work)
    expect(changed).not.toEqual([])
    expect(next).toEqual({ different: [], isSame: true, givenUp: 0 })
  })
})

describe('C1: what is another database than it was is given up', () => {
  const OTHER: readonly (readonly [what: string, statement: string])[] = [
    ['a table', 'CREATE TABLE kept AS TABLE shards'],
    ['a table that went', 'DROP TABLE drained_nodes'],
    ['a column', 'ALTER TABLE accounts ADD COLUMN mine integer'],
    ['a default', 'ALTER TABLE shards ALTER COLUMN epoch SET DEFAULT 7'],
    ['a check', 'ALTER TABLE drained_nodes ADD CHECK (node_id <> $$mine$$)'],
    ['an index', 'CREATE INDEX mine ON accounts (status)'],
    ['an index that went', 'DROP INDEX liability_runs_by_root'],
    [
      'a trigger',
      `CREATE FUNCTION mine() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
       CREATE TRIGGER mine AFTER INSERT ON accounts EXECUTE FUNCTION mine()`,
    ],
    ['another function in place of one', `ALTER FUNCTION ledger_demand(boolean, text) RENAME TO mine`],
    ['a schema', 'CREATE SCHEMA mine'],
    ['a right to a table', 'GRANT SELECT ON accounts TO PUBLIC'],
    ['a right to a column', 'GRANT UPDATE (version) ON accounts TO PUBLIC'],
    ['a right that went', 'REVOKE ALL ON FUNCTION ledger_demand(boolean, text) FROM PUBLIC'],
    ['rights to come', 'ALTER DEFAULT PRIVILEGES GRANT SELECT ON TABLES TO PUBLIC'],
    [
      'a setting',
      'DO $$BEGIN EXECUTE format($q$ALTER DATABASE %I SET work_mem = $q$ || 999, current_database()); END$$',
    ],
    ['a limit', 'DO $$BEGIN EXECUTE format($q$ALTER DATABASE %I CONNECTION LIMIT 77$q$, current_database()); END$$'],
    [
      'a right to the database',
      'DO $$BEGIN EXECUTE format($q$REVOKE CONNECT ON DATABASE %I FROM PUBLIC$q$, current_database()); END$$',
    ],
    ['a large object', 'SELECT lo_create(0)'],
    ['a comment', `COMMENT ON TABLE accounts IS 'mine'`],
    ['what the planner knows', 'ANALYZE accounts'],
    ['a temporary table', 'CREATE TEMPORARY TABLE mine (id integer)'],
    ['a relation, made anew', 'TRUNCATE accounts'],
  ]
  test.for(OTHER)('%s', async ([, statement]) => {
    const { url, drop } = await pool.take()
    const sql = postgres(url, { max: 1, onnotice: () => undefined })
    const condition = await sql.begin(noteCondition)
    const changing = sql.begin(async (transaction) => {
      expect(await restore(transaction, condition, new Map())).toBeUndefined()
      await transaction.unsafe(statement)
      throw new RolledBack((await restore(transaction, condition, new Map())) ?? 'nothing')
    })
    await expect(changing).rejects.toThrow(/^pg_/)
    await sql.end()
    await drop()
  })

  test('what is taken then is another one, as new', async () => {
    const { changed, next } = await afterWork(run('CREATE TABLE kept AS TABLE shards'))
    expect(changed).toContain('columns')
    expect(next).toEqual({ different: [], isSame: false, givenUp: 1 })
  })
})

/** Ends a transaction; says what was different. */
class RolledBack extends Error {}

test('C2: what was only read is not written, and what was written has no dead rows', async () => {
  const { url, drop } = await createLedgerDatabase()
  const files = (sql: postgres.Sql) => sql`
    SELECT relname, relfilenode, pg_relation_size(oid) AS bytes FROM pg_class
     WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace ORDER BY 1`
  const before = await on(url, files)
  await on(url, (sql) => sql.unsafe('SELECT * FROM shards, data_keys'))
  await on(url, run(`INSERT INTO drained_nodes SELECT 'node', now(); DELETE FROM drained_nodes`))
  const number = await on(url, numberOf)
  await drop()
  const next = await createLedgerDatabase()
  expect(await on(next.url, numberOf)).toBe(number)
  const after = await on(next.url, files)
  const changed = after.filter(({ relname, relfilenode }) =>
    before.some((file) => file['relname'] === relname && file['relfilenode'] !== relfilenode),
  )
  expect(changed).toMatchObject([{ relname: 'drained_nodes', bytes: '0' }])
  await next.drop()
})

test('P1: nobody stays connected to what was dropped, and nobody comes back', async () => {
  const used = await pool.take()
  const leaked = await connect({ url: used.url, applicationName: 'leaked' })
  await leaked.sql.unsafe('BEGIN; LOCK TABLE accounts; SELECT pg_advisory_lock(7)')
  const ended = expect(leaked.sql`SELECT pg_sleep(100)`).rejects.toThrow(/terminating connection|CONNECTION_/)
  await used.drop()
  await ended
  const next = await pool.take()
  await expect(on(used.url, (sql) => sql`SELECT 1`)).rejects.toThrow('does not exist')
  const rows = await on(
    next.url,
    (sql) => sql`
    SELECT pg_try_advisory_lock(7) AS free, (SELECT count(*)::integer FROM accounts) > 0 AS readable`,
  )
  expect([...rows]).toEqual([{ free: true, readable: true }])
  leaked.destroy()
  await next.drop()
})

test('two that are taken at once are two, and every ledger has an ID of its own', async () => {
  const ids: unknown[] = []
  for (let round = 0; round < 2; round += 1) {
    const both = await Promise.all([createLedgerDatabase(), createLedgerDatabase()])
    for (const { url } of both)
      ids.push(...(await on(url, (sql) => sql`SELECT ledger_id FROM ledger`)).map((row) => row['ledger_id']))
    await Promise.all(both.map(({ drop }) => drop()))
  }
  expect(new Set(ids).size).toBe(4)
})
