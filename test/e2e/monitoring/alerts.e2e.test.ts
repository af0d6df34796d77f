/**
 * A real Prometheus with the rules of the deployment watches a running ledger: a well one raises no alert, and each fault
 * raises its own. After how long an alert fires, and with which text, is in test/integration/monitoring.
 */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import postgres from 'postgres'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { verifierKeyText } from '../../../api/client/log/signed-note.ts'
import { prefixed, rootPrefix } from '../../../infra/embedded/package-manager.ts'
import { createNoteSigner } from '../../../infra/log/log-signer.ts'
import { certificateFor } from '../../support/certificates.ts'
import { type Holder, LedgerClient } from '../../support/client/client.ts'
import { funded, keyed } from '../../support/client/client-moves.ts'
import { readStream } from '../../support/client/event-readers.ts'
import { Closing } from '../../support/closing.ts'
import { alertRules, dashboard } from '../../support/monitoring/monitoring-files.ts'
import { type Labels, type Prometheus, startPrometheus } from '../../support/monitoring/prometheus.ts'
import { namedIn } from '../../support/monitoring/promql.ts'
import { makeSecrets } from '../../support/nats/secured-nats.ts'
import { installCertificate } from '../../support/postgres/server-certificate.ts'
import { type ClusterParts, type Part, startParts } from '../../support/processes/cluster-parts.ts'
import { freePort, freePorts } from '../../support/processes/free-ports.ts'
import { buildOnce } from '../start-harness.ts'

const PARTS = ['node-1', 'node-2', 'edge-1', 'auditor-1'] as const
const SHARDS = 16
/** Of the small disk. */
const SMALL_BYTES = 1_048_576

const closing = new Closing()
const ports = new Map<string, number>()
let cluster: ClusterParts
let prometheus: Prometheus
let client: LedgerClient
let sql: postgres.Sql
let alice: Holder

beforeAll(async () => {
  await buildOnce()
  const free = await freePorts(PARTS.length)
  for (const [index, name] of PARTS.entries()) ports.set(name, free[index] ?? 0)
  cluster = await startParts({
    nodes: 2,
    edges: 1,
    shards: SHARDS,
    natsServers: 1,
    natsDirectly: true,
    env: { LEDGER_AUDITOR_SHARE: '50' },
    envOf: (name) => ({ LEDGER_METRICS_PORT: String(portOf(name)) }),
  })
  closing.add(() => cluster.close())
  await cluster.startAuditor('auditor-1')
  client = await LedgerClient.login(cluster.origins[0] ?? '', cluster.client)
  closing.add(() => client.close())
  sql = postgres(cluster.databaseUrl, { max: 2, onnotice: () => undefined })
  closing.add(() => sql.end())
  const of = (...names: readonly string[]): readonly number[] => names.map(portOf)
  prometheus = await startPrometheus({ node: of('node-1', 'node-2'), edge: of('edge-1'), auditor: of('auditor-1') })
  closing.add(() => prometheus.close())
  alice = await funded(client, 'alice@alerts', '1000')
})

afterAll(() => closing.close())

function portOf(name: string): number {
  return ports.get(name) ?? 0
}

function instanceOf(name: string): string {
  return `127.0.0.1:${portOf(name)}`
}

function partNamed(name: string): Part {
  const part = cluster.parts.get(name)
  if (part === undefined) throw new Error(`there is no ${name}`)
  return part
}

/** Names of the alerts that are pending or firing. */
async function active(): Promise<readonly string[]> {
  return [...new Set((await prometheus.alerts()).map(({ labels }) => labels['alertname'] ?? ''))].sort()
}

async function untilActive(alert: string, labels: Labels = {}): Promise<void> {
  const found = async () => (await prometheus.alerts()).map((one) => one.labels)
  await expect.poll(found).toContainEqual(expect.objectContaining({ alertname: alert, ...labels }))
}

async function kill(name: string): Promise<void> {
  const part = partNamed(name)
  part.signal('SIGKILL')
  await part.exited
}

function credit(): ReturnType<LedgerClient['submit']> {
  return client.submit(alice, keyed({ type: 'credit', amount: '1' }))
}

/** Selectors and labels without a sample in Prometheus. `legend`: of a chart, such as `{{part}} {{instance}}`. */
async function missingIn(expression: string, legend = ''): Promise<readonly string[]> {
  const { selectors, labels: named } = namedIn(expression)
  const labels = [...named, ...[...legend.matchAll(/\{\{(\w+)\}\}/g)].map(([, label = '']) => label)]
  const series = await Promise.all(selectors.map(prometheus.series))
  const known = new Set(series.flat().flatMap((one) => Object.keys(one)))
  return [
    ...selectors.filter((_, index) => series[index]?.length === 0),
    ...labels.filter((label) => !known.has(label)),
  ]
}

test('a ledger that is well exports each metric and label that the rules name, and raises no alert', async () => {
  // Connections with TLS are in a later test.
  for (const { alert, expr } of alertRules().filter((rule) => rule.alert !== 'LedgerCertificateNearEnd'))
    await expect.poll(async () => [alert, ...(await missingIn(expr))]).toEqual([alert])
  await expect.poll(active).toEqual([])
})

test('a dead node, and shards that no node serves', async () => {
  await kill('node-1')
  await untilActive('LedgerPartDown', { part: 'node', instance: instanceOf('node-1') })
  await kill('node-2')
  await untilActive('LedgerShardsWithoutOwner')
  await cluster.startNode('node-1')
  await cluster.startNode('node-2')
  await expect.poll(active).toEqual([])
})

test('commits that PostgreSQL refuses', async () => {
  await sql.unsafe(`
    CREATE FUNCTION refuse_rows() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN RAISE EXCEPTION 'refused by the test' USING ERRCODE = '53100'; END $$;
    CREATE TRIGGER refuse_rows BEFORE INSERT ON transactions FOR EACH STATEMENT EXECUTE FUNCTION refuse_rows()`)
  const refused = async (): Promise<readonly string[]> => {
    await credit()
    return active()
  }
  await expect.poll(refused).toContain('LedgerCommitsFailing')
  await sql.unsafe('DROP TRIGGER refuse_rows ON transactions')
  await expect.poll(active).toEqual([])
})

test('a transaction in PostgreSQL that does not end holds back events, and they reach their listeners late', async () => {
  const { next_cursor: start } = await client.read('/v1/events?page_size=1')
  const stream = readStream([client], String(start))
  await sql.begin(async (open) => {
    await open`SELECT pg_current_xact_id()`
    expect((await credit()).status).toBe(202)
    await untilActive('LedgerEventsStalled')
  })
  await untilActive('LedgerEventLag')
  await stream.stop()
})

test('a webhook whose receiver is away, and one that is disabled', async () => {
  const added = await cluster.administer(['client', 'add', '--id', 'hooked', '--role', 'transactor'])
  const { client_secret: clientSecret } = JSON.parse(added) as { readonly client_secret: string }
  const hooked = await LedgerClient.login(client.origin, { clientId: 'hooked', clientSecret })
  const url = `http://127.0.0.1:${await freePort()}/hook`
  expect((await hooked.post('/v1/webhooks', { url })).status).toBe(201)
  hooked.close()
  expect((await credit()).status).toBe(202)
  await untilActive('LedgerWebhookFailing', { instance: instanceOf('edge-1') })
  await cluster.administer(['client', 'revoke', '--id', 'hooked'])
  await untilActive('LedgerWebhookDisabled', { reason: 'client_revoked' })
})

test('an entry of a chain that was changed', async () => {
  const changed = await sql`
    UPDATE transactions SET audit_hash = set_byte(audit_hash, 0, get_byte(audit_hash, 0) # 1)
     WHERE txn_id = (SELECT min(txn_id) FROM transactions WHERE status = 'completed')`
  expect(changed.count).toBe(1)
  await untilActive('LedgerAuditFinding', { subject: 'chains_verify' })
})

/** A real file system, of which a twentieth is free. Throws without root. */
function smallDisk(): string {
  const asRoot = rootPrefix()
  if (asRoot === undefined) throw new Error('This test mounts a small disk: run it as root, or with sudo')
  const asked = (program: string, ...args: readonly string[]): void => {
    const { status, stderr } = spawnSync(...prefixed(asRoot, program, args), { encoding: 'utf8' })
    if (status !== 0) throw new Error(stderr)
  }
  const directory = mkdtempSync(join(tmpdir(), 'ledger-small-'))
  closing.add(() => rmSync(directory, { recursive: true, force: true }))
  asked('mount', '-t', 'tmpfs', '-o', `size=${SMALL_BYTES},mode=1777`, 'tmpfs', directory)
  closing.add(() => asked('umount', directory))
  writeFileSync(join(directory, 'filled'), Buffer.alloc(SMALL_BYTES * 0.95))
  return directory
}

/** Of the ledger's PostgreSQL: a certificate that is valid for a day. */
async function offerShortTls(): Promise<string> {
  const secrets = makeSecrets([])
  closing.add(() => rmSync(secrets, { recursive: true, force: true }))
  writeFileSync(join(secrets, 'postgres.pem'), certificateFor(secrets, 'postgres', ['localhost']))
  const [row] = await sql<{ data_directory: string }[]>`SHOW data_directory`
  installCertificate(row?.data_directory ?? '', secrets)
  await sql`ALTER SYSTEM SET ssl_cert_file = 'postgres.pem'`
  await sql`ALTER SYSTEM SET ssl_key_file = 'postgres.key'`
  await sql`ALTER SYSTEM SET ssl = 'on'`
  await sql`SELECT pg_reload_conf()`
  return `${cluster.databaseUrl}?sslmode=require`
}

/** A policy with a witness that does not run. */
async function absentWitness(directory: string): Promise<string> {
  const { key } = await createNoteSigner('witness.example/w1', 'witness', Buffer.alloc(32, 1))
  const file = join(directory, 'policy')
  writeFileSync(file, `witness w1 ${verifierKeyText(key)} http://127.0.0.1:${await freePort()}\nquorum w1\n`)
  return file
}

test('an edge with a nearly full disk, a server whose certificate ends soon, and no witness', async () => {
  await kill('edge-1')
  const disk = smallDisk()
  await cluster.startEdge('edge-1', {
    LEDGER_DATA_DIR: disk,
    LEDGER_DATABASE_URL: await offerShortTls(),
    LEDGER_WITNESSES: await absentWitness(disk),
  })
  await expect.poll(async () => (await credit().catch(() => undefined))?.status).toBe(202)
  await untilActive('LedgerDiskNearlyFull', { instance: instanceOf('edge-1') })
  await untilActive('LedgerCertificateNearEnd', { certificate: 'postgres' })
  await untilActive('LedgerLogNotWitnessed')
})

test('after all of this Prometheus has samples for each chart of the dashboard', async () => {
  for (const { title, targets = [] } of dashboard().panels) {
    for (const { expr, legendFormat } of targets) {
      const expression = expr.replaceAll('$__rate_interval', '1m')
      expect([title, ...(await missingIn(expression, legendFormat))]).toEqual([title])
    }
  }
})
