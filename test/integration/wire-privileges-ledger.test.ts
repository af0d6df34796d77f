/**
 * Goal: a whole ledger whose parts have nothing but their own roles, at a NATS cluster on the deployed configuration and at
 * PostgreSQL on the deployed roles, does everything that it is there for, and no part ever asks for more than it may.
 */
import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import postgres from 'postgres'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { LedgerClient, type Holder, membersOf, send, textOf } from '../support/client.ts'
import { agreed, agreementOn, finalGroup, legFields, payment } from '../support/client-groups.ts'
import { type Members, newAccountKeys } from '../support/client-keys.ts'
import { changeStatus, funded, holdingOf, issued, moved } from '../support/client-moves.ts'
import { classOf, mintedTo, type Nft } from '../support/client-nfts.ts'
import { type ClusterParts, type PartRole, startParts } from '../support/cluster-parts.ts'
import { until } from '../support/cluster-process.ts'
import { freePort } from '../support/free-ports.ts'
import { makeDatabaseRoles, urlOf } from '../support/database-roles.ts'
import { type SecuredNats, startSecuredNats } from '../support/secured-nats.ts'

const SHARDS = 8
const DEADLINE_MS = 180_000

let nats: SecuredNats
let cluster: ClusterParts
let client: LedgerClient
let elsewhere: LedgerClient
let alice: Holder
let bob: Holder
let nft: Nft
const databaseLines: string[] = []

/** The environment of each part: files, and no secrets. Only the owner has the master key. */
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
    env: { LEDGER_AUDITOR_SHARE: '100' },
    access: {
      startNats: () => Promise.resolve(nats),
      prepareDatabase: (url) => makeDatabaseRoles(url, nats.secrets),
      environmentOf,
    },
    onDatabaseLine: (line) => databaseLines.push(line),
  })
  await cluster.startAuditor('auditor-1')
  client = await LedgerClient.login(cluster.origins[0] ?? '', cluster.client)
  elsewhere = client.at(cluster.origins[1] ?? '')
})
afterAll(async () => {
  client?.close()
  elsewhere?.close()
  await cluster?.close()
})

async function asserted(what: string, fields: Members = {}): Promise<Members> {
  const reply = await elsewhere.post(`/v1/assertions/proof-of-${what}`, { requester: 'a test', ...fields })
  if (reply.status !== 200) throw new Error(`proof-of-${what}: ${reply.status} ${reply.body}`)
  return membersOf(reply)['result'] as Members
}

async function sayHealth(state: string): Promise<number> {
  const headers = { authorization: `Bearer ${client.token}`, 'content-type': 'application/json' }
  const body = JSON.stringify({ health_state: state })
  return (await send(client.origin, { method: 'PUT', path: '/v1/shards/0/health', headers, body })).status
}

test('accounts, a token and a transfer are taken, and read at the other edge', async () => {
  ;[alice, bob] = [await funded(client, 'alice@roles', '100'), await funded(client, 'bob@roles', '5')]
  await issued(client, 'ROLES', alice, '1000')
  await moved(client, alice, { type: 'transfer', amount: '40', token_id: 'ROLES', to_account_id: bob.accountId })
  await moved(client, alice, { type: 'burn', amount: '10', token_id: 'ROLES' })
  expect((await holdingOf(elsewhere, bob.accountId, 'ROLES')).balance).toBe('40')
  expect((await changeStatus(client, bob, { status: 'frozen' })).status).toBe(200)
  expect((await changeStatus(client, bob, { status: 'active' })).status).toBe(200)
})

test('a settlement group settles', async () => {
  const agreement = await agreed(client, agreementOn(payment(alice, bob, '3')))
  await moved(client, alice, legFields(agreement, 0))
  await moved(elsewhere, bob, legFields(agreement, 1))
  expect((await finalGroup(client, agreement))['status']).toBe('settled')
})

test('an NFT is minted and changes hands, and an attestation of it is made and revoked', async () => {
  const classId = await classOf(client, 'Roles', alice)
  nft = await mintedTo(client, alice, { class_id: classId, instance_id: 'one' }, bob)
  await moved(client, bob, { type: 'transfer', ...nft, to_account_id: alice.accountId })
  const made = await client.post('/v1/attestations', {
    subject_class: nft.class_id,
    subject_instance: nft.instance_id,
    attester: 'assayer@roles',
    attestation_type: 'assay',
    statement: 'Gold.',
  })
  expect([made.status, made.body]).toEqual([201, expect.any(String)])
  const path = `/v1/attestations/${textOf(membersOf(made), 'attestation_id')}`
  expect((await elsewhere.post(`${path}/revoke`, { reason: 'a test' })).status).toBe(200)
  expect((await client.read(path))['status']).toBe('revoked')
})

test('liabilities, provenance and compliance are asserted, and an inclusion proof is given', async () => {
  expect(await asserted('liabilities')).toMatchObject({ merkle_root: expect.any(String) })
  expect((await elsewhere.get(`/v1/accounts/${alice.accountId}/liability-proof`)).status).toBe(200)
  expect(await asserted('provenance')).toMatchObject({ provenance_valid: true })
  expect(await asserted('compliance')).toMatchObject({ compliant: true })
})

test('all of it is exported, to its proof', async () => {
  const reply = await elsewhere.post('/v1/exports', {
    requester: 'a test',
    all: true,
    audience: randomUUID(),
    recipient_public_key: newAccountKeys().jwk,
  })
  const records = reply.body.trimEnd().split('\n')
  expect(reply.status).toBe(200)
  expect(JSON.parse(records.at(-1) ?? '')).toMatchObject({ record: 'proof' })
  expect(records.filter((line) => line.includes('"record":"used_keys"')).length).toBeGreaterThan(1)
})

test('of two edges one has written a checkpoint, when it started', async () => {
  const sql = postgres(urlOf(cluster.databaseUrl, nats.secrets, 'edge'), { max: 1, onnotice: () => undefined })
  try {
    await until('there is a checkpoint', DEADLINE_MS, async () => (await sql`SELECT FROM checkpoints`).count > 0)
    expect(await sql`SELECT number, level FROM checkpoints ORDER BY number LIMIT 1`).toEqual([
      { number: '1', level: 'day' },
    ])
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

test('administrators see, drain and rotate as the owner, and tokens are refreshed and revoked', async () => {
  const shards = await cluster.administer(['shards'])
  expect(shards).toMatch(/^node-1: \d/m)
  expect(await sayHealth('draining')).toBe(200)
  expect(await sayHealth('healthy')).toBe(200)
  await cluster.administer(['drain', 'node-2'])
  expect(await cluster.administer(['shards'])).not.toMatch(/^node-2: \d/m)
  await cluster.administer(['drain', 'node-2', '--end'])
  await cluster.administer(['keys', 'rotate', '--purpose', 'receipt'])
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

test('what a killed node had is served again', async () => {
  const before = await client.readAll('/v1/shards', 'shards')
  const lost = new Map(
    before.filter(({ owner }) => owner === 'node-1').map((shard) => [shard['shard_id'], Number(shard['epoch'])]),
  )
  const killed = cluster.parts.get('node-1')
  killed?.signal('SIGKILL')
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
] as const)('a %s with the part key of another part (%s) reports it in one line, and ends', async ([part, other]) => {
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

test('no part asked for what it may not, and none shows a secret', () => {
  expect(databaseLines.length).toBeGreaterThan(0)
  expect(databaseLines.filter((line) => line.includes('permission denied'))).toEqual([])
  const said = [...cluster.parts.values()].map((part) => part.lastLines()).join('\n')
  expect(said).toContain('edge_started')
  expect(said).not.toContain('PERMISSIONS_VIOLATION')
  expect(nats.servers.flatMap((server) => server.logLines()).filter((line) => /violation/i.test(line))).toEqual([])
})
