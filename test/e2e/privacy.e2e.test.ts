/**
 * A copy of the database, its files, NATS traffic, logs or traces does not reveal the owners of assets (D19). The same search
 * finds them in data that the keys of the ledger open.
 */
import { join } from 'node:path'
import { connect, type NatsConnection } from 'nats'
import postgres from 'postgres'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { runningNatsUrl } from '../../infra/embedded/nats-server.ts'
import { createSealedBodies } from '../../infra/nats/message-bodies.ts'
import { type Holder, LedgerClient } from '../support/client/client.ts'
import { agreed, agreementOn, finalGroup, legFields } from '../support/client/client-groups.ts'
import { heldFor } from '../support/client/client-holds.ts'
import { accepted, moved } from '../support/client/client-moves.ts'
import { classOf, mint } from '../support/client/client-nfts.ts'
import { type Cluster, readPostgresRecord, startCluster, until } from '../support/processes/cluster-process.ts'
import { secretsOfCluster, vaultOfCluster } from '../support/cluster-vault.ts'
import { type Collector, startCollector } from '../support/collector.ts'
import { openedDump } from '../support/postgres/opened-dump.ts'
import { found, foundBelow, type Needles } from '../support/needles.ts'

const DEADLINE_MS = 180_000

/** Secrets to search for. Amounts and balances have unique digits. */
const SECRETS = {
  'account ID of the sender': 'recognizable-sender-8f31@house',
  'account ID of the receiver': 'recognizable-receiver-2c77',
  'amount that came in': '918273645.546372819',
  'amount of a transfer': '73519.842617',
  'amount of a leg': '28641.973513',
  'amount of a hold': '61937.284615',
  'balance of the sender': '918171483.730242819',
  'balance of the receiver': '73520.842617',
  metadata: 'recognizable metadata of a transfer',
  'metadata of a hold': 'recognizable metadata of a hold',
  'idempotency key': 'recognizable-idempotency-key-5d1e',
  'reason of a freeze': 'recognizable reason to freeze',
  'metadata of an NFT': 'recognizable red',
  statement: 'recognizable statement on an item',
  attester: 'recognizable-attester@office',
  'evidence URL': 'https://evidence.example/recognizable',
  'reason of a revocation': 'recognizable reason to revoke',
} as const satisfies Needles

/** A text that is readable by design: the search must find it. */
const READABLE = { 'name of an NFT class': 'Recognizable Items 77b1' } as const satisfies Needles

let cluster: Cluster
let collector: Collector
let capture: NatsConnection
/** What NATS carried. `reply`: where a request is answered; empty of a reply. */
interface Carried {
  readonly subject: string
  readonly reply: string
  readonly body: Buffer
}

const traffic: Carried[] = []
const lines: string[] = []

beforeAll(async () => {
  collector = await startCollector()
  cluster = await startCluster({
    nodes: 2,
    env: { LEDGER_LOG_LEVEL: 'debug', OTEL_EXPORTER_OTLP_ENDPOINT: collector.endpoint },
    onLine: (line) => void lines.push(line),
  })
  const url = new URL(runningNatsUrl(join(cluster.dataDir, 'nats')) ?? '')
  capture = await connect({ servers: url.host, user: url.username, pass: url.password })
  capture.subscribe('>', {
    callback: (_error, { subject, reply = '', data }) => {
      traffic.push({ subject, reply, body: Buffer.from(data) })
    },
  })
  await capture.flush()
  await liveALife(cluster)
})
afterAll(async () => {
  await capture.close()
  await cluster.stop()
  await collector.close()
})

test('a dump of every table contains no secret', async () => {
  const sql = postgres(cluster.databaseUrl(), { max: 1, onnotice: () => undefined })
  const tables = await sql<{ name: string }[]>`
    SELECT quote_ident(relname) AS name FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace`
  const dumped: string[] = []
  for (const { name } of tables) {
    const rows = await sql.unsafe<{ row: string }[]>(`SELECT t::text AS row FROM ${name} t`)
    dumped.push(...rows.map(({ row }) => row))
  }
  await sql.end()
  expect(tables.length).toBeGreaterThan(20)
  expect(found(SECRETS, Buffer.from(dumped.join('\n')))).toEqual([])
  expect(found(READABLE, Buffer.from(dumped.join('\n')))).toEqual(Object.keys(READABLE))
  const opened = await openedDump(cluster.databaseUrl(), await vaultOfCluster(cluster))
  const texts = opened.map(({ text }) => text).join('\n')
  expect(found(SECRETS, Buffer.from(texts)).toSorted()).toEqual(Object.keys(SECRETS).toSorted())
})

test('the files of PostgreSQL and its write-ahead log contain no secret', async () => {
  const sql = postgres(cluster.databaseUrl(), { max: 1, onnotice: () => undefined })
  await sql`CHECKPOINT`
  await sql.end()
  const files = readPostgresRecord(cluster.dataDir).place
  expect([...foundBelow(SECRETS, files)]).toEqual([])
  expect(foundBelow(READABLE, files).size).toBeGreaterThan(0)
})

test('messages and files of NATS contain no secret', async () => {
  await capture.flush()
  expect(traffic.length).toBeGreaterThan(50)
  expect(traffic.some(({ subject }) => /^ledger\.node\.\w+\.deliveries$/.test(subject))).toBe(true)
  const passed = traffic.flatMap(({ subject, reply, body }) => [Buffer.from(`${subject} ${reply} `), body])
  expect(found(SECRETS, Buffer.concat(passed))).toEqual([])
  // Attestations and their revocation pass from the edge to PostgreSQL alone.
  const crossing = [
    'account ID of the sender',
    'account ID of the receiver',
    'amount of a transfer',
    'metadata',
    'idempotency key',
    'metadata of an NFT',
  ]
  const opened = found(SECRETS, Buffer.from((await openedTraffic()).join('\n')))
  expect(crossing.filter((name) => opened.includes(name))).toEqual(crossing)
  expect([...foundBelow(SECRETS, join(cluster.dataDir, 'nats'))]).toEqual([])
})

test('the logs contain no secret', () => {
  expect(lines.length).toBeGreaterThan(10)
  expect(found(SECRETS, Buffer.from(lines.join('\n')))).toEqual([])
  expect([...foundBelow(SECRETS, join(cluster.dataDir, 'logs'))]).toEqual([])
})

test('exported spans contain no secret, and no shard', async () => {
  const kinds = ['POST /v1/transactions', 'process requests', 'process deliveries', 'send deliveries', 'step', 'commit']
  await expect
    .poll(() => [...new Set(collector.spans.map(({ name }) => name))], { timeout: DEADLINE_MS })
    .toEqual(expect.arrayContaining(kinds))
  const bytes = Buffer.concat(collector.bodies)
  expect(found(SECRETS, bytes)).toEqual([])
  expect(found(READABLE, bytes)).toEqual([])
  const attributes = new Set(collector.spans.flatMap((span) => Object.keys(span.attributes)))
  expect([...attributes].filter((name) => /shard|path|query|url/.test(name))).toEqual([])
})

/** The content that the message secret of the ledger opens. */
async function openedTraffic(): Promise<readonly string[]> {
  const { messageSecret } = await secretsOfCluster(cluster)
  const bodies = createSealedBodies(messageSecret, await ledgerIdOf())
  const asked = new Map(traffic.map(({ subject, reply }) => [reply, subject]))
  return traffic.flatMap(({ subject, reply, body }) => {
    const request = asked.get(subject)
    const address =
      request === undefined
        ? ({ direction: 'request', subject, replySubject: reply } as const)
        : ({ direction: 'reply', subject: request, replySubject: subject } as const)
    return bodies.read(address, body) ?? []
  })
}

async function ledgerIdOf(): Promise<string> {
  const sql = postgres(cluster.databaseUrl(), { max: 1, onnotice: () => undefined })
  const [row] = await sql<{ id: string }[]>`SELECT ledger_id AS id FROM ledger`
  await sql.end()
  return row?.id ?? ''
}

/** Messages between nodes must pass NATS. */
async function onAnotherNode(client: LedgerClient, { accountId }: Holder): Promise<Holder> {
  const ownerOf = async (id: string): Promise<unknown> => {
    const { shard_id: shardId } = await client.read(`/v1/accounts/${id}`)
    return (await client.read(`/v1/shards/${String(shardId)}`))['owner']
  }
  await until('both nodes have shards', DEADLINE_MS, async () => {
    const shards = await client.readAll('/v1/shards', 'shards')
    return new Set(shards.map(({ owner }) => owner)).size === 2
  })
  for (let number = 0; ; number += 1) {
    const holder = await client.register(`${SECRETS['account ID of the receiver']}.${number}`)
    if ((await ownerOf(holder.accountId)) !== (await ownerOf(accountId))) return holder
  }
}

/** Makes requests of every kind with the secrets. */
async function liveALife(cluster: Cluster): Promise<void> {
  const client = await LedgerClient.login(cluster.origin, cluster.clients.transactor)
  const admin = await LedgerClient.login(cluster.origin, cluster.clients.admin)
  const sender = await client.register(SECRETS['account ID of the sender'])
  const receiver = await onAnotherNode(client, sender)
  const incoming = { type: 'credit', amount: SECRETS['amount that came in'] }
  await moved(client, sender, incoming)
  await moved(client, receiver, { type: 'credit', amount: '1.5' })
  const transfer = {
    type: 'transfer',
    amount: SECRETS['amount of a transfer'],
    to_account_id: receiver.accountId,
    metadata: { note: SECRETS['metadata'] },
    idempotency_key: SECRETS['idempotency key'],
  }
  await moved(client, sender, transfer)
  const legs = [
    { type: 'debit', account_id: sender.accountId, amount: SECRETS['amount of a leg'], boundary: true },
    { type: 'debit', account_id: receiver.accountId, amount: '0.5', boundary: true },
  ]
  const group = await agreed(client, agreementOn(legs))
  for (const [index, holder] of [sender, receiver].entries()) await accepted(client, holder, legFields(group, index))
  await finalGroup(client, group)
  await heldFor(client, sender, receiver, {
    amount: SECRETS['amount of a hold'],
    metadata: { note: SECRETS['metadata of a hold'] },
  })
  const classId = await classOf(client, READABLE['name of an NFT class'], sender)
  const minted = await mint(client, sender, classId, {
    instance_id: 'one',
    owner: sender.accountId,
    metadata: { color: SECRETS['metadata of an NFT'] },
  })
  if (minted.status !== 201) throw new Error(`mint: ${minted.status} ${minted.body}`)
  const stated = await client.post('/v1/attestations', {
    attester: SECRETS['attester'],
    subject_class: classId,
    subject_instance: 'one',
    attestation_type: 'assay',
    statement: SECRETS['statement'],
    evidence_url: SECRETS['evidence URL'],
  })
  const { attestation_id: attestationId } = JSON.parse(stated.body) as { readonly attestation_id: string }
  await client.post(`/v1/attestations/${attestationId}/revoke`, { reason: SECRETS['reason of a revocation'] })
  await admin.post(`/v1/accounts/${receiver.accountId}/status`, {
    status: 'frozen',
    reason: SECRETS['reason of a freeze'],
  })
  client.close()
  admin.close()
}
