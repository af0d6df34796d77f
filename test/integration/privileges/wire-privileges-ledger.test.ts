/**
 * A ledger of several processes works with the deployed NATS configuration and PostgreSQL roles. No part exceeds its
 * rights. The `debug` logs of parts and of PostgreSQL contain no content of requests and no credentials (D19).
 */
import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { connect as connectTls } from 'node:tls'
import postgres from 'postgres'
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  type HttpReply,
  type HttpRequest,
  LedgerClient,
  type Holder,
  membersOf,
  send,
  textOf,
} from '../../support/client/client.ts'
import { agreed, agreementOn, finalGroup, legFields, payment } from '../../support/client/client-groups.ts'
import { type Members, newAccountKeys } from '../../support/client/client-keys.ts'
import { accepted, changeStatus, funded, holdingOf, issued, moved } from '../../support/client/client-moves.ts'
import { classOf, mintedTo, type Nft } from '../../support/client/client-nfts.ts'
import { type ClusterParts, type PartRole, startParts } from '../../support/processes/cluster-parts.ts'
import { projectRoot, until } from '../../support/processes/cluster-process.ts'
import { freePort } from '../../support/processes/free-ports.ts'
import { makeDatabaseRoles, passwordOf, urlOf } from '../../support/postgres/database-roles.ts'
import { startTestNats } from '../../support/nats/nats.ts'
import { type SecuredNats, startSecuredNats } from '../../support/nats/secured-nats.ts'

const SHARDS = 8
const NAME = 'xyzzy'
const TRACE_ID = 'abcdef0123456789abcdef0123456789'
/** Characters: shorter texts may occur by chance. */
const SHORTEST = 6
/** Words of the interface, which are no private content. */
const WORDS = new Set(['transfer', 'credit', 'active', 'frozen', 'refresh_token', 'object', 'string', 'number'])
const DEADLINE_MS = 180_000
const PROGRAM = join(projectRoot(), 'dist', 'infra', 'main', 'ledger.js')
/** The log names the ledger that receives an export. */
const AUDIENCE = randomUUID()

let nats: SecuredNats
let cluster: ClusterParts
let client: LedgerClient
let elsewhere: LedgerClient
let alice: Holder
let bob: Holder
let nft: Nft
const databaseLines: string[] = []
const printed: string[] = []
const told = new Set<string>()

/** The environment of a part names files and contains no secrets. Only the owner has the master key. */
function environmentOf(role: PartRole): Readonly<Record<string, string>> {
  return {
    LEDGER_MASTER_KEY: '',
    ...(role === 'owner'
      ? { LEDGER_MASTER_KEY_FILE: join(nats.secrets, 'master.key') }
      : { LEDGER_PART_KEY_FILE: join(nats.secrets, `part-${role}.key`) }),
    LEDGER_DATABASE_PASSWORD_FILE: join(nats.secrets, `ledger_${role}.password`),
    ...(role === 'node' || role === 'edge' ? nats.environmentOf(role) : {}),
  }
}

beforeAll(async () => {
  nats = await startSecuredNats(3)
  cluster = await startParts({
    nodes: 2,
    edges: 2,
    shards: SHARDS,
    natsServers: 3,
    env: { LEDGER_LOG_LEVEL: 'debug', LEDGER_AUDITOR_SHARE: '100' },
    access: {
      startNats: () => Promise.resolve(nats),
      prepareDatabase: (url) => makeDatabaseRoles(url, nats.secrets),
      environmentOf,
    },
    onDatabaseLine: (line) => databaseLines.push(line),
  })
  await cluster.startAuditor('auditor-1')
  client = await LedgerClient.login(cluster.origins[0] ?? '', cluster.client, witness)
  elsewhere = client.at(cluster.origins[1] ?? '')
})
afterAll(async () => {
  client?.close()
  elsewhere?.close()
  await cluster?.close()
})

/** Collects the texts that clients send, and the tokens that they receive. */
function witness({ path, body, headers }: HttpRequest, reply: HttpReply): void {
  keep(
    path
      .split(/[/?&=]/)
      .map(decodeURIComponent)
      .filter((part) => part.includes(NAME)),
  )
  keep(headers?.['authorization']?.split(' ')[1])
  if (typeof body === 'string' && body.endsWith('}')) keep(JSON.parse(body))
  if (path === '/v1/auth/token' && reply.status === 200) keep(membersOf(reply))
}

function keep(value: unknown): void {
  if (typeof value === 'string' && value.length >= SHORTEST && !WORDS.has(value)) told.add(value)
  if (typeof value === 'object' && value !== null) Object.values(value).forEach(keep)
}

async function asserted(subject: string): Promise<Members> {
  const reply = await elsewhere.post(`/v1/assertions/proof-of-${subject}`, { requester: `auditor of ${NAME}` })
  if (reply.status !== 200) throw new Error(`proof-of-${subject}: ${reply.status} ${reply.body}`)
  return membersOf(reply)['result'] as Members
}

async function recordHealth(state: string): Promise<number> {
  const headers = { authorization: `Bearer ${client.token}`, 'content-type': 'application/json' }
  const body = JSON.stringify({ health_state: state })
  return (await send(client.origin, { method: 'PUT', path: '/v1/shards/0/health', headers, body })).status
}

test('accounts, a token and transfers are created at one edge and read at the other', async () => {
  ;[alice, bob] = [await funded(client, `alice@${NAME}`, '31415.92'), await funded(client, `bob@${NAME}`, '27182.81')]
  await issued(client, 'XYZZYGOLD', alice, '1414213.56')
  const gold = { token_id: 'XYZZYGOLD' }
  await moved(client, alice, { type: 'transfer', amount: '98765.43', ...gold, to_account_id: bob.accountId })
  await moved(client, alice, { type: 'burn', amount: '1234.5', ...gold, metadata: { purpose: `a gift of ${NAME}` } })
  expect((await holdingOf(elsewhere, bob.accountId, 'XYZZYGOLD')).balance).toBe('98765.43')
  const busy = Array.from({ length: 50 }, (_, index) =>
    accepted(client, alice, { type: 'transfer', amount: `0.${10 + index}`, to_account_id: bob.accountId }),
  )
  await Promise.all(busy)
})

test('a settlement group settles', async () => {
  const agreement = await agreed(client, agreementOn(payment(alice, bob, '1234.56')))
  await moved(client, alice, legFields(agreement, 0))
  await moved(elsewhere, bob, legFields(agreement, 1))
  expect((await finalGroup(client, agreement))['status']).toBe('settled')
})

test('an NFT is minted and transferred, and its attestation is created and revoked', async () => {
  const classId = await classOf(client, NAME, alice)
  nft = await mintedTo(client, alice, { class_id: classId, instance_id: NAME }, bob)
  await moved(client, bob, { type: 'transfer', ...nft, to_account_id: alice.accountId })
  const made = await client.post('/v1/attestations', {
    subject_class: nft.class_id,
    subject_instance: nft.instance_id,
    attester: `assayer@${NAME}`,
    attestation_type: 'assay',
    statement: `Gold of ${NAME}.`,
  })
  expect([made.status, made.body]).toEqual([201, expect.any(String)])
  const path = `/v1/attestations/${textOf(membersOf(made), 'attestation_id')}`
  expect((await elsewhere.post(`${path}/revoke`, { reason: `because of ${NAME}` })).status).toBe(200)
  expect((await client.read(path))['status']).toBe('revoked')
})

test('invalid requests are refused', async () => {
  const traceparent = `00-${TRACE_ID}-0123456789abcdef-01`
  const submit = (fields: Members, headers = { traceparent }) => client.post('/v1/transactions', fields, headers)
  const body = { account_id: alice.accountId, type: 'credit', amount: '77777.77', idempotency_key: `key of ${NAME}` }
  const replies = [
    await submit({ ...body, signature: `${'A'.repeat(80)}_${NAME}` }),
    await submit({ ...body, amount: `12345.678 ${NAME}`, signature: 'AAAAAAAA' }),
    await client.post('/v1/transactions', `{"account_id": "${alice.accountId}", ${NAME}`, { traceparent }),
    await client.get(`/v1/accounts/nobody@${NAME}`),
    await client.get(`/v1/transactions?account_id=${alice.accountId}&page_token=${NAME}${NAME}`),
    await client.get('/v1/accounts', { authorization: `Bearer forged.${NAME}.token` }),
    await client.post('/v1/auth/token', { client_id: cluster.client.clientId, client_secret: `wrong ${NAME} secret` }),
    await client.post('/v1/auth/token', { grant_type: 'refresh_token', refresh_token: `stolen ${NAME} token` }),
    await changeStatus(client, bob, { status: 'frozen', reason: `because of ${NAME}` }),
    await changeStatus(client, bob, { status: 'active' }),
  ]
  expect(replies.map(({ status }) => status)).toEqual([403, 400, 400, 404, 400, 401, 401, 401, 200, 200])
})

test('liabilities, provenance and compliance are asserted, and an inclusion proof is given', async () => {
  expect(await asserted('liabilities')).toMatchObject({ merkle_root: expect.any(String) })
  expect((await elsewhere.get(`/v1/accounts/${alice.accountId}/liability-proof`)).status).toBe(200)
  expect(await asserted('provenance')).toMatchObject({ provenance_valid: true })
  expect(await asserted('compliance')).toMatchObject({ compliant: true })
})

test('an export of all accounts is complete', async () => {
  const reply = await elsewhere.post('/v1/exports', {
    requester: `auditor of ${NAME}`,
    all: true,
    audience: AUDIENCE,
    recipient_public_key: newAccountKeys().jwk,
  })
  const records = reply.body.trimEnd().split('\n')
  expect(reply.status).toBe(200)
  expect(JSON.parse(records.at(-1) ?? '')).toMatchObject({ record: 'proof' })
  expect(records.filter((line) => line.includes('"record":"used_keys"')).length).toBeGreaterThan(1)
})

test('the edges extend and publish the log', async () => {
  const sql = postgres(urlOf(cluster.databaseUrl, nats.secrets, 'edge'), { max: 1, onnotice: () => undefined })
  try {
    await until('a head is published', DEADLINE_MS, async () => (await sql`SELECT FROM log_published`).count > 0)
    const [head] = await sql<{ size: number }[]>`SELECT size::integer FROM log_head`
    expect(head?.size).toBeGreaterThan(0)
  } finally {
    await sql.end()
  }
})

test('the auditor completes a pass', async () => {
  const sql = postgres(urlOf(cluster.databaseUrl, nats.secrets, 'auditor'), { max: 1, onnotice: () => undefined })
  try {
    const [now] = await sql<{ ms: number }[]>`SELECT extract(epoch FROM clock_timestamp()) * 1000 AS ms`
    await until('the auditor has been through the ledger', DEADLINE_MS, async () => {
      const [row] = await sql<{ document: string }[]>`SELECT document FROM audit_progress`
      const { last } = JSON.parse(row?.document ?? '{"last":null}') as { readonly last: { beganAtMs: number } | null }
      return last !== null && last.beganAtMs > Number(now?.ms)
    })
    expect(await sql`SELECT subject FROM audit_findings`).toEqual([])
  } finally {
    await sql.end()
  }
})

test('events are published with the key and the role of the auditor', async () => {
  const server = await startTestNats()
  const keyFile = join(nats.secrets, 'reader.jwk')
  writeFileSync(keyFile, JSON.stringify(newAccountKeys().jwk))
  const args = ['events', 'publish', '--subject', 'events', '--recipient-key', keyFile]
  const env = {
    ...process.env,
    LEDGER_PART_KEY_FILE: join(nats.secrets, 'part-auditor.key'),
    LEDGER_DATABASE_URL: urlOf(cluster.databaseUrl, nats.secrets, 'auditor'),
    LEDGER_NATS_URL: server.url(),
  }
  const publisher = spawn(process.execPath, [PROGRAM, ...args], { env, stdio: ['ignore', 'pipe', 'inherit'] })
  publisher.stdout.on('data', (part: Buffer) => printed.push(part.toString('utf8')))
  try {
    const events = await countOfEvents()
    const manager = await (await server.connect('test')).connection.jetstreamManager()
    await until('all events are published', DEADLINE_MS, async () => {
      const stream = await manager.streams.info('events').catch(() => undefined)
      return stream !== undefined && stream.state.last_seq >= events
    })
  } finally {
    const closed = once(publisher, 'close')
    publisher.kill('SIGTERM')
    await closed
    await server.close()
  }
  expect(publisher.exitCode).toBe(0)
})

async function countOfEvents(): Promise<number> {
  let count = 0
  for (let after = ''; ;) {
    const page = await client.read(`/v1/events?page_size=100${after}`)
    const { length } = page['events'] as readonly unknown[]
    if (length === 0) return count
    count += length
    after = `&after=${textOf(page, 'next_cursor')}`
  }
}

test('administration commands work with the role of the owner, and a token is refreshed', async () => {
  const shards = await cluster.administer(['shards'])
  expect(shards).toMatch(/^node-1: \d/m)
  expect(await recordHealth('draining')).toBe(200)
  expect(await recordHealth('healthy')).toBe(200)
  await cluster.administer(['drain', 'node-2'])
  expect(await cluster.administer(['shards'])).not.toMatch(/^node-2: \d/m)
  await cluster.administer(['drain', 'node-2', '--end'])
  printed.push(shards, await cluster.administer(['keys', 'rotate', '--purpose', 'receipt']))
  await cluster.administer(['client', 'add', '--id', 'gone', '--role', 'viewer'])
  await cluster.administer(['client', 'revoke', '--id', 'gone'])
  const login = { client_id: cluster.client.clientId, client_secret: cluster.client.clientSecret }
  const tokens = membersOf(await client.post('/v1/auth/token', login))
  const refreshed = await elsewhere.post('/v1/auth/token', {
    grant_type: 'refresh_token',
    refresh_token: textOf(tokens, 'refresh_token'),
  })
  expect(refreshed.status).toBe(200)
})

test('shards of a killed node are served again despite the loss of a NATS server and a restart of PostgreSQL', async () => {
  const before = await client.readAll('/v1/shards', 'shards')
  const lost = new Map(
    before.filter(({ owner }) => owner === 'node-1').map((shard) => [shard['shard_id'], Number(shard['epoch'])]),
  )
  const killed = cluster.parts.get('node-1')
  killed?.signal('SIGKILL')
  await nats.servers[2]?.kill()
  await cluster.restartPostgres('SIGKILL')
  await killed?.exited
  await cluster.startNode('node-1')
  await until('every shard has an owner that lives', DEADLINE_MS, async () => {
    const states = await client.readAll('/v1/shards', 'shards')
    // Until the dead owner is detected, its shards look healthy.
    const isTaken = (shard: Members) =>
      shard['health_state'] === 'healthy' && Number(shard['epoch']) > (lost.get(shard['shard_id']) ?? 0)
    return states.length === SHARDS && states.every(isTaken)
  })
  const transfer = await moved(client, alice, { type: 'transfer', amount: '1', to_account_id: bob.accountId })
  expect(transfer['status']).toBe('completed')
})

test.for([
  ['node', 'edge'],
  ['edge', 'node'],
  ['auditor', 'edge'],
] as const)('the part %s with the part key of the part %s logs one line and exits', async ([part, other]) => {
  const env = { LEDGER_PART_KEY_FILE: join(nats.secrets, `part-${other}.key`), LEDGER_PORT: String(await freePort()) }
  const { startNode, startEdge, startAuditor } = cluster
  const start = { node: startNode, edge: startEdge, auditor: startAuditor }[part]
  const started = await start(`${part}-9`, env)
  await started.exited
  const lines = started
    .lastLines()
    .split('\n')
    .filter((line) => line.includes('part key'))
  expect(lines).toEqual([expect.stringContaining(`The part key is for part ${other}, but this is part ${part}`)])
})

test('NATS lets no server without a certificate for NATS servers join', async () => {
  const port = nats.servers[0]?.routePort ?? 0
  expect(await joining(port, nats.secrets, 'nats-2')).toBe('accepted')
  expect(await joining(port, nats.secrets, 'postgres')).toMatch(/alert/)
  expect(await joining(port, nats.secrets, undefined)).toMatch(/alert/)
})

/** `accepted`: the server completes the handshake and replies. Otherwise the error of the handshake. */
function joining(port: number, secrets: string, certificate: string | undefined): Promise<string> {
  const read = (name: string) => readFileSync(join(secrets, name))
  const shown = certificate === undefined ? {} : { cert: read(`${certificate}.pem`), key: read(`${certificate}.key`) }
  const secured = connectTls({ host: '127.0.0.1', port, ca: read('ca.pem'), servername: 'localhost', ...shown })
  return new Promise((resolve) => {
    secured.once('error', (error) => resolve(error.message))
    secured.once('data', () => {
      secured.destroy()
      resolve('accepted')
    })
    secured.once('close', () => resolve('closed'))
    secured.write('nonsense\r\n')
  })
}

test('no part attempted an act that its role forbids', () => {
  expect(databaseLines.length).toBeGreaterThan(0)
  expect(databaseLines.filter((line) => line.includes('permission denied'))).toEqual([])
  expect([...cluster.parts.values()].map((part) => part.lastLines()).join('\n')).not.toContain('PERMISSIONS_VIOLATION')
  expect(
    nats.servers.flatMap((server) => server.logLines()).filter((line) => /permissions violation/i.test(line)),
  ).toEqual([])
})

test('no log contains the content of a request or a credential', async () => {
  for (const part of cluster.parts.values()) part.signal('SIGTERM')
  await Promise.all([...cluster.parts.values()].map((part) => part.exited))
  const parts = [...cluster.parts.values()].map((part) => part.lastLines())
  const said = [...parts, ...databaseLines, ...printed].join('\n')
  for (const word of ['submission_committed', 'submission_answered', 'edge_started', 'auditor_started', TRACE_ID])
    expect(said).toContain(word)
  told.delete(AUDIENCE)
  keep(cluster.client.clientSecret)
  keep((['owner', 'node', 'edge', 'auditor'] as const).map((role) => passwordOf(nats.secrets, role)))
  expect(told.size).toBeGreaterThan(100)
  expect([...told].filter((text) => said.includes(text))).toEqual([])
  expect(said.toLowerCase()).not.toContain(NAME)
})
