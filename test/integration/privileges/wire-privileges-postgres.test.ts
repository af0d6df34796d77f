/** PostgreSQL grants each role the rights of the product's list on every table, and no others. */
import { spawnSync } from 'node:child_process'
import { X509Certificate } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import tls from 'node:tls'
import postgres from 'postgres'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startPostgres } from '../../../infra/embedded/postgres-server.ts'
import type { EmbeddedServer } from '../../../infra/embedded/server-process.ts'
import { migrate, type MigrateOptions } from '../../../infra/postgres/migrations/migrate.ts'
import { ACKNOWLEDGE, PRUNE } from '../../../infra/postgres/store/outbox.ts'
import { FUNCTION_RIGHTS, type GrantedRole, TABLE_RIGHTS } from '../../../infra/postgres/migrations/roles.ts'
import { certificateFor } from '../../support/certificates.ts'
import { projectRoot, until } from '../../support/processes/cluster-process.ts'
import { TEST_MASTER_KEYS } from '../../support/postgres/ledger-database.ts'
import { type DatabaseRole, makeDatabaseRoles, urlOf } from '../../support/postgres/database-roles.ts'
import { makeSecrets } from '../../support/nats/secured-nats.ts'
import { installCertificate } from '../../support/postgres/server-certificate.ts'

const DENIED = '42501'
const NOT_UPDATABLE = '55000'
const OPTIONS: MigrateOptions = { shardCount: 4, masterKeys: TEST_MASTER_KEYS }

let directory: string
let secrets: string
let server: EmbeddedServer
let address: string
const logins = new Map<DatabaseRole, postgres.Sql>()

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'ledger-roles-'))
  secrets = makeSecrets([])
  server = await startPostgres({ dataDir: directory })
  address = await makeDatabaseRoles(server.url, secrets)
  await migrate(urlOf(address, secrets, 'owner'), OPTIONS)
  for (const role of ['owner', 'node', 'edge', 'auditor', 'backup'] as const) {
    logins.set(role, postgres(urlOf(address, secrets, role), { max: 1, onnotice: () => undefined }))
  }
})
afterAll(async () => {
  await Promise.all([...logins.values()].map((sql) => sql.end()))
  await server?.stop()
  for (const made of [directory, secrets]) rmSync(made, { recursive: true, force: true })
})

function as(role: DatabaseRole): postgres.Sql {
  const sql = logins.get(role)
  if (sql === undefined) throw new Error(`${role} has not logged in`)
  return sql
}

/** The code of the error of a statement, or `done`. The statement is rolled back. */
async function outcome(role: DatabaseRole, statement: string): Promise<string> {
  const done = new Error('done')
  try {
    await as(role).begin(async (sql) => {
      await sql.unsafe(statement)
      throw done
    })
  } catch (error) {
    if (error === done) return 'done'
    if (error instanceof postgres.PostgresError) return error.code
    throw error
  }
  return 'done'
}

interface Table {
  readonly name: string
  /** The first column of the primary key, which no part may change. */
  readonly column: string
  /** The server refuses a write to a view before it checks privileges. */
  readonly isView: boolean
}

async function tables(): Promise<readonly Table[]> {
  return as('owner')<Table[]>`
    SELECT c.relname AS name, a.attname AS column, c.relkind = 'v' AS "isView"
      FROM pg_class c
      LEFT JOIN pg_index i ON i.indrelid = c.oid AND i.indisprimary
      JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = coalesce(i.indkey[0], 1)
     WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p', 'v', 'm', 'f')
     ORDER BY c.relname`
}

type Act = 'SELECT' | 'INSERT' | 'UPDATE' | 'DELETE'

/** A statement whose privileges the server checks before it reads or writes rows. */
function statementOf(act: Act, { name, column }: Table): string {
  if (act === 'SELECT') return `SELECT * FROM ${name} LIMIT 0`
  if (act === 'INSERT') return `INSERT INTO ${name} DEFAULT VALUES`
  if (act === 'DELETE') return `DELETE FROM ${name} WHERE false`
  return `UPDATE ${name} SET ${column} = DEFAULT WHERE false`
}

function rightsOf(table: string, role: DatabaseRole): readonly string[] {
  return TABLE_RIGHTS[table]?.[`ledger_${role}` as GrantedRole] ?? []
}

/** Privileges of a role on a whole table, without those on single columns. */
function wholeRights(table: string, role: DatabaseRole): readonly string[] {
  return rightsOf(table, role).filter((right) => !right.includes('('))
}

describe('G2: the list of rights', () => {
  test('names exactly the tables of the ledger', async () => {
    expect(Object.keys(TABLE_RIGHTS).sort()).toEqual((await tables()).map(({ name }) => name))
  })

  test('names exactly the functions of the ledger', async () => {
    const functions = await as('owner')<{ name: string }[]>`
      SELECT format('%s(%s)', p.proname, (
               SELECT string_agg(format_type(type, NULL), ', ' ORDER BY place)
                 FROM unnest(p.proargtypes) WITH ORDINALITY AS t (type, place))) AS name
        FROM pg_proc p WHERE p.pronamespace = 'public'::regnamespace`
    expect(functions.map(({ name }) => name).sort()).toEqual(Object.keys(FUNCTION_RIGHTS).sort())
  })

  test('equals the rights on the server for every role, table and act', async () => {
    const differing: string[] = []
    for (const table of await tables()) {
      for (const role of ['node', 'edge', 'auditor', 'backup'] as const) {
        for (const act of ['SELECT', 'INSERT', 'UPDATE', 'DELETE'] as const) {
          const [found] = await as('owner')<{ allowed: boolean }[]>`
            SELECT has_table_privilege(${`ledger_${role}`}, ${table.name}, ${act}) AS allowed`
          const wanted = wholeRights(table.name, role).includes(act)
          if (found?.allowed !== wanted) differing.push(`${role} ${act} ${table.name}`)
          const refused = table.isView && act !== 'SELECT' ? NOT_UPDATABLE : DENIED
          const isOnColumns = rightsOf(table.name, role).some((right) => right.startsWith(`${act} (`))
          // The column of the UPDATE is one that no role may change.
          if (isOnColumns && act === 'INSERT') continue
          if (!wanted && (await outcome(role, statementOf(act, table))) !== refused) {
            differing.push(`${role} was not refused: ${act} ${table.name}`)
          }
        }
      }
    }
    expect(differing).toEqual([])
  })
})

test('G4: no role chooses the number of its commit in what it writes', async () => {
  const chosen = await as('owner')<{ column: string }[]>`
    SELECT DISTINCT format('%s.%s', c.relname, a.attname) AS column
      FROM pg_attrdef d
      JOIN pg_attribute a ON a.attrelid = d.adrelid AND a.attnum = d.adnum
      JOIN pg_class c ON c.oid = d.adrelid
     CROSS JOIN unnest(ARRAY['ledger_node', 'ledger_edge', 'ledger_auditor', 'ledger_backup']) AS r (role)
     CROSS JOIN unnest(ARRAY['INSERT', 'UPDATE']) AS p (act)
     WHERE c.relnamespace = 'public'::regnamespace AND pg_get_expr(d.adbin, d.adrelid) = 'pg_current_xact_id()'
       AND has_column_privilege(role, c.oid, a.attnum, act)`
  // A transaction that was pending names the commit that entered it.
  expect(chosen.map(({ column }) => column)).toEqual(['transactions.entered_xid'])
})

test('a role that inserts into some columns of a table leaves only out those with a default', async () => {
  const left = await as('owner')<{ column: string }[]>`
    SELECT format('%s: %s.%s', role, c.relname, a.attname) AS column
      FROM pg_class c
      JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
     CROSS JOIN unnest(ARRAY['ledger_node', 'ledger_edge', 'ledger_auditor', 'ledger_backup']) AS r (role)
     WHERE c.relnamespace = 'public'::regnamespace AND has_any_column_privilege(role, c.oid, 'INSERT')
       AND NOT a.atthasdef AND a.attidentity = '' AND NOT has_column_privilege(role, c.oid, a.attnum, 'INSERT')`
  expect(left.map(({ column }) => column)).toEqual([
    'ledger_edge: attestations.revoked_xid',
    'ledger_edge: clients.held',
  ])
})

const REFUSED: readonly (readonly [DatabaseRole, string])[] = [
  ['edge', 'UPDATE shards SET epoch = epoch + 1, session = NULL'],
  ['edge', "UPDATE accounts SET status = 'active'"],
  ['edge', "UPDATE balances SET document = ''"],
  ['edge', "UPDATE transactions SET status = 'completed'"],
  ['edge', 'DELETE FROM audit_entries'],
  ['edge', 'DELETE FROM nft_events'],
  ['edge', "INSERT INTO clients (client_id, document, changed_xid) VALUES ('me', '', '3')"],
  ['edge', "UPDATE clients SET client_id = 'admin'"],
  ['edge', "UPDATE clients SET changed_xid = '3'"],
  ['edge', 'DELETE FROM clients'],
  ['edge', "UPDATE attestations SET attester = 'another'"],
  ['edge', "UPDATE attestations SET wrapped_key = ''"],
  ['edge', 'DELETE FROM attestations'],
  ['edge', 'UPDATE service_keys SET revoked_at = NULL'],
  ['edge', 'DELETE FROM audit_findings'],
  ['edge', 'DELETE FROM log_tiles'],
  ['edge', "UPDATE log_statements SET hash = ''"],
  ['edge', 'UPDATE log_tiles SET number = number + 1'],
  ['edge', "INSERT INTO log_statements (hash, commit_xid) VALUES ('', '3')"],
  ['edge', "UPDATE administrative_entries SET document = ''"],
  ['edge', 'DELETE FROM administrative_entries'],
  [
    'edge',
    "INSERT INTO administrative_entries (sequence, previous_hash, audit_hash, document, commit_xid) VALUES (0, '', '', '', '3')",
  ],
  ['node', 'SELECT document FROM administrative_entries'],
  ['node', 'DELETE FROM log_head'],
  ['node', "INSERT INTO commits (commit_xid, final, pending, ended) VALUES ('3', '{}', '{}', '{}')"],
  ['auditor', 'INSERT INTO log_statements DEFAULT VALUES'],
  ['edge', "SELECT ledger_demand(false, 'x')"],
  ['node', 'SELECT document FROM clients'],
  ['node', 'SELECT token_hash FROM refresh_families'],
  ['node', 'UPDATE transactions SET amount_bucket = 1'],
  ['node', "UPDATE transactions SET document = ''"],
  ['node', "UPDATE audit_entries SET payload = ''"],
  ['node', 'DELETE FROM audit_entries'],
  ['node', 'DELETE FROM transactions'],
  ['node', 'DELETE FROM accounts'],
  ['node', 'DELETE FROM operations'],
  ['node', 'DELETE FROM nft_events'],
  ['node', 'INSERT INTO shards (shard_id) VALUES (99)'],
  ['node', 'UPDATE ledger SET shard_count = 1'],
  [
    'node',
    "INSERT INTO shard_health (shard_id, health_state, recorded_by, updated_at) VALUES (0, 'healthy', 'me', now())",
  ],
  ['node', 'DELETE FROM audit_findings'],
  ['auditor', "UPDATE balances SET document = ''"],
  ['auditor', "UPDATE transactions SET status = 'failed'"],
  ['auditor', 'SELECT document FROM clients'],
  ['backup', 'SELECT document FROM clients'],
  ['backup', "SELECT pg_read_binary_file('/etc/passwd', 0, 1, true)"],
]

const DEFINING = [
  'CREATE TABLE mine (id integer)',
  'CREATE TEMPORARY TABLE mine (id integer)',
  'CREATE SCHEMA mine',
  'CREATE FUNCTION mine() RETURNS integer LANGUAGE sql AS $$ SELECT 1 $$',
  'CREATE INDEX mine ON accounts (status)',
  'ALTER TABLE accounts ADD COLUMN mine integer',
  'DROP TABLE accounts',
  'TRUNCATE accounts',
  'CREATE ROLE mine',
  'SET ROLE ledger_owner',
  "COPY accounts TO '/tmp/mine'",
  "COPY accounts TO PROGRAM 'cat'",
  "SELECT pg_read_file('/etc/passwd')",
  'ALTER SYSTEM SET fsync = off',
]

describe('PostgreSQL refuses', () => {
  test.for(REFUSED)('%s: %s', async ([role, statement]) => {
    expect(await outcome(role, statement)).toBe(DENIED)
  })

  test.for(['node', 'edge', 'auditor', 'backup'] as const)(
    'G1: definitions and administration by the %s',
    async (role) => {
      const outcomes: string[] = []
      for (const statement of DEFINING) {
        // Within a transaction some of these are refused for another reason.
        const code = await as(role)
          .unsafe(statement)
          .then(
            () => 'done',
            (error: unknown) => (error instanceof postgres.PostgresError ? error.code : String(error)),
          )
        outcomes.push(`${code} ${statement}`)
      }
      expect(outcomes).toEqual(DEFINING.map((statement) => `${DENIED} ${statement}`))
    },
  )

  test.for(['CREATE ROLE mine', 'CREATE DATABASE mine', 'ALTER SYSTEM SET fsync = off', "COPY ledger TO '/tmp/mine'"])(
    'G1: administration of the server by the owner: %s',
    async (statement) => {
      await expect(as('owner').unsafe(statement)).rejects.toMatchObject({ code: DENIED })
    },
  )

  test('the password of another role', async () => {
    const wrong = new URL(urlOf(address, secrets, 'edge'))
    wrong.username = 'ledger_owner'
    const sql = postgres(wrong.toString(), { max: 1, onnotice: () => undefined })
    await expect(sql`SELECT 1`).rejects.toMatchObject({ code: '28P01' })
    await sql.end()
  })
})

describe('PostgreSQL permits', () => {
  test('a node to prune and acknowledge messages, and to read the server ID and the standbys', async () => {
    const sql = as('node')
    expect(await sql.unsafe(PRUNE, ['{0}', '2026-01-01T00:00:00Z', 10])).toEqual([{ pruned: 0 }])
    expect(await sql.unsafe(ACKNOWLEDGE, ['{}', '{}', '{}'])).toEqual([])
    const [row] = await sql<{ id: string; standbys: number }[]>`
      SELECT system_identifier::text AS id, (SELECT count(*)::integer FROM pg_stat_replication) AS standbys
        FROM pg_control_system()`
    expect(row).toEqual({ id: expect.stringMatching(/^\d+$/), standbys: 0 })
  })

  test('a node to terminate a backend of another node, and none of an edge', async () => {
    const other = postgres(urlOf(address, secrets, 'node'), { max: 1, onnotice: () => undefined })
    const [mine] = await other<{ pid: number }[]>`SELECT pg_backend_pid() AS pid`
    const [edge] = await as('edge')<{ pid: number }[]>`SELECT pg_backend_pid() AS pid`
    const end = (pid: number) => as('node')<{ ended: boolean }[]>`SELECT pg_terminate_backend(${pid}, 1000) AS ended`
    expect(await end(mine?.pid ?? 0)).toEqual([{ ended: true }])
    await expect(end(edge?.pid ?? 0)).rejects.toMatchObject({ code: DENIED })
    await other.end()
  })

  test.for([
    "INSERT INTO log_statements (hash) VALUES ('x')",
    "UPDATE log_head SET position = 'another.0'",
    "INSERT INTO clients (client_id, document) VALUES ('made', '')",
    "UPDATE clients SET document = '', revoked_at = now()",
    'SELECT client_id FROM clients FOR UPDATE',
    'DELETE FROM liability_runs',
    'DELETE FROM liability_pages',
    'DELETE FROM refresh_families',
    'DELETE FROM used_refresh_tokens',
  ])('an edge: %s', async (statement) => {
    expect(await outcome('edge', statement)).toBe('done')
  })
})

test('a migration revokes other grants, and restores its own', async () => {
  await as('owner')`GRANT UPDATE ON balances TO ledger_edge`
  await as('owner')`GRANT UPDATE (amount_bucket) ON transactions TO ledger_node`
  await as('owner')`REVOKE SELECT ON balances FROM ledger_node`
  expect(await outcome('edge', "UPDATE balances SET document = ''")).toBe('done')
  expect(await outcome('node', 'SELECT * FROM balances')).toBe(DENIED)
  await migrate(urlOf(address, secrets, 'owner'), OPTIONS)
  expect(await outcome('edge', "UPDATE balances SET document = ''")).toBe(DENIED)
  expect(await outcome('node', 'UPDATE transactions SET amount_bucket = 1')).toBe(DENIED)
  expect(await outcome('node', 'SELECT * FROM balances')).toBe('done')
})

test('the server knows every setting of the deployment', async () => {
  const conf = readFileSync(join(projectRoot(), 'infra', 'deploy', 'postgres', 'postgresql.conf'), 'utf8')
  const names = [...conf.matchAll(/^(\w+) = /gm)].map(([, name = '']) => name)
  const superuser = postgres(server.url, { max: 1, onnotice: () => undefined })
  const known = await superuser<{ name: string }[]>`SELECT lower(name) AS name FROM pg_settings`
  await superuser.end()
  expect(names.length).toBeGreaterThan(10)
  expect(names.filter((name) => !known.some((one) => one.name === name))).toEqual([])
})

/** Applies the deployment's TLS certificate and `pg_hba.conf` to the running server. */
async function deployAccess(): Promise<void> {
  const data = join(directory, 'data')
  installCertificate(data, secrets)
  const deployed = readFileSync(join(projectRoot(), 'infra', 'deploy', 'postgres', 'pg_hba.conf'), 'utf8')
  writeFileSync(join(data, 'pg_hba.conf'), deployed.replaceAll(/^hostssl {2}ledger /gm, 'hostssl  ledger_of_roles '))
  const superuser = postgres(server.url, { max: 1, onnotice: () => undefined })
  for (const [name, value] of [
    ['ssl_cert_file', 'postgres.pem'],
    ['ssl_key_file', 'postgres.key'],
    ['ssl', 'on'],
  ] as const) {
    await superuser.unsafe(`ALTER SYSTEM SET ${name} = '${value}'`)
  }
  await superuser`SELECT pg_reload_conf()`
  await until('PostgreSQL offers TLS', 180_000, async () => {
    const [row] = await superuser<{ on: boolean }[]>`SELECT current_setting('ssl') = 'on' AS on`
    return row?.on === true
  })
  const wrong = await superuser`SELECT line_number FROM pg_hba_file_rules WHERE error IS NOT NULL`
  const rules = await superuser`SELECT 1 FROM pg_hba_file_rules`
  await superuser.end()
  expect(wrong).toEqual([])
  expect(rules).toHaveLength(2)
}

/** Replaces the certificate of the server by one for these hosts. */
async function certifyFor(hosts: readonly string[]): Promise<void> {
  const certificate = certificateFor(secrets, 'postgres', hosts)
  writeFileSync(join(directory, 'data', 'postgres.pem'), certificate)
  // The server reads its files again on a signal; no role may connect to ask for it.
  process.kill(server.pid, 'SIGHUP')
  const expected = new X509Certificate(certificate).fingerprint256
  await until('PostgreSQL shows the new certificate', 180_000, async () => (await shownBy(server.port)) === expected)
}

/** The fingerprint of the certificate that a new connection receives. */
function shownBy(port: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(SSL_REQUEST))
    socket.once('error', reject)
    socket.once('data', () => {
      const secured = tls.connect({ socket, rejectUnauthorized: false }, () => {
        resolve(secured.getPeerX509Certificate()?.fingerprint256 ?? '')
        secured.destroy()
      })
      secured.once('error', reject)
    })
  })
}

/** https://www.postgresql.org/docs/17/protocol-message-formats.html, SSLRequest */
const SSL_REQUEST = Buffer.from([0, 0, 0, 8, 4, 210, 22, 47])

describe('with the TLS settings and pg_hba.conf of the deployment', () => {
  beforeAll(deployAccess)

  const shards = (more: Readonly<Record<string, string>>) => ledger(['shards'], 'localhost', more)
  const ledger = (args: readonly string[], host: string, more: Readonly<Record<string, string>>) => {
    const url = new URL(address)
    url.hostname = host
    url.searchParams.set('sslmode', 'verify-full')
    return spawnSync(process.execPath, [join(projectRoot(), 'infra', 'main', 'ledger.mjs'), ...args], {
      env: {
        PATH: process.env['PATH'] ?? '',
        LEDGER_DATA_DIR: directory,
        LEDGER_DATABASE_URL: url.toString(),
        LEDGER_DATABASE_PASSWORD_FILE: join(secrets, 'ledger_owner.password'),
        ...more,
      },
    })
  }

  test('the ledger connects, but not to a server with an unknown authority', () => {
    const done = shards({ NODE_EXTRA_CA_CERTS: join(secrets, 'ca.pem') })
    expect([done.status, done.stdout.toString()]).toEqual([0, expect.stringContaining('(no owner): 4 of 4 shards')])
    expect(shards({}).status).toBe(1)
  })

  test('T1: the ledger connects by IP address only if the certificate names the address, and not just localhost', async () => {
    const trusting = { NODE_EXTRA_CA_CERTS: join(secrets, 'ca.pem') }
    // The first command uses a single connection, the second a pool.
    const reached = (host: string) => [
      ledger(['drain', 'nobody'], host, trusting).stderr.toString().includes('no node has run yet'),
      ledger(['shards'], host, trusting).status === 0,
    ]
    expect(reached('127.0.0.1')).toEqual([true, true])
    await certifyFor(['postgres', 'localhost'])
    expect(reached('localhost')).toEqual([true, true])
    expect(reached('127.0.0.1')).toEqual([false, false])
    await certifyFor(['postgres', 'localhost', '127.0.0.1'])
    expect(reached('127.0.0.1')).toEqual([true, true])
  })

  test('PostgreSQL refuses roles without TLS or at another database, and a superuser over the network', async () => {
    const plain = urlOf(address, secrets, 'edge')
    const other = new URL(plain)
    other.pathname = '/postgres'
    for (const [url, ssl] of [
      [plain, false],
      [server.url, 'require'],
      [other.toString(), 'require'],
    ] as const) {
      const sql = postgres(url, { max: 1, ssl, onnotice: () => undefined })
      await expect(sql`SELECT 1`).rejects.toMatchObject({ code: '28000' })
      await sql.end()
    }
  })
})
