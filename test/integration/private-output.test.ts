/**
 * Goal: nodes, edges, auditor and administrators' commands of a whole ledger, at the level `debug`, and PostgreSQL under it,
 * print nothing that clients send or prove themselves with (D19).
 */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type HttpReply, type HttpRequest, LedgerClient, type Holder, membersOf } from '../support/client.ts'
import { agreed, agreementOn, finalGroup, legFields, payment } from '../support/client-groups.ts'
import type { Members } from '../support/client-keys.ts'
import { accepted, changeStatus, funded, issued, moved } from '../support/client-moves.ts'
import { classOf, mintedTo } from '../support/client-nfts.ts'
import { type ClusterParts, startParts } from '../support/cluster-parts.ts'
import { until } from '../support/cluster-process.ts'

const NAME = 'xyzzy'
const TRACE_ID = 'abcdef0123456789abcdef0123456789'
/** Shorter texts may stand anywhere by chance. */
const SHORTEST = 6
/** Words of the interface, which say what is done and not to whom. */
const WORDS = new Set(['transfer', 'credit', 'active', 'frozen', 'refresh_token', 'object', 'string', 'number'])
const DEADLINE_MS = 180_000

let cluster: ClusterParts
let client: LedgerClient
let alice: Holder
let bob: Holder
const databaseLines: string[] = []
const printed: string[] = []
const told = new Set<string>()

beforeAll(async () => {
  cluster = await startParts({
    nodes: 2,
    edges: 1,
    shards: 4,
    natsServers: 1,
    env: { LEDGER_LOG_LEVEL: 'debug', LEDGER_AUDITOR_SHARE: '100' },
    onDatabaseLine: (line) => databaseLines.push(line),
  })
  await cluster.startAuditor('auditor-1')
  client = await LedgerClient.login(cluster.origins[0] ?? '', cluster.client, witness)
})
afterAll(async () => {
  client?.close()
  await cluster?.close()
})

/** Remembers each text that a client sends, and the tokens that it is given. */
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

test('accounts, tokens, transfers, groups and NFTs', async () => {
  ;[alice, bob] = [await funded(client, `alice@${NAME}`, '31415.92'), await funded(client, `bob@${NAME}`, '27182.81')]
  await issued(client, 'XYZZYGOLD', alice, '1414213.56')
  const gift = { amount: '98765.43', token_id: 'XYZZYGOLD', to_account_id: bob.accountId }
  await moved(client, alice, { type: 'transfer', ...gift, metadata: { purpose: `a gift of ${NAME}` } })
  const agreement = await agreed(client, agreementOn(payment(alice, bob, '1234.56')))
  await moved(client, alice, legFields(agreement, 0))
  await moved(client, bob, legFields(agreement, 1))
  expect((await finalGroup(client, agreement))['status']).toBe('settled')
  const nft = await mintedTo(client, alice, { class_id: await classOf(client, NAME, alice), instance_id: NAME }, bob)
  await moved(client, bob, { type: 'transfer', ...nft, to_account_id: alice.accountId })
  const busy = Array.from({ length: 50 }, (_, index) =>
    accepted(client, alice, { type: 'transfer', amount: `0.${10 + index}`, to_account_id: bob.accountId }),
  )
  await Promise.all(busy)
})

test('what is refused, in every way', async () => {
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
  ]
  expect(replies.map(({ status }) => status)).toEqual([403, 400, 400, 404, 400, 401, 401, 401, 200])
})

test('assertions, administration, a node that dies and PostgreSQL that goes', async () => {
  const asserted = await client.post('/v1/assertions/proof-of-liabilities', { requester: `auditor of ${NAME}` })
  expect(asserted.status).toBe(200)
  for (const command of [['shards'], ['keys', 'rotate', '--purpose', 'receipt']])
    printed.push(await cluster.administer(command))
  cluster.parts.get('node-1')?.signal('SIGKILL')
  await cluster.restartPostgres('SIGKILL')
  await until('transfers complete again', DEADLINE_MS, async () => {
    const reply = await client.submit(alice, {
      type: 'transfer',
      amount: '0.01',
      to_account_id: alice.accountId.replace('alice', 'bob'),
      idempotency_key: `${NAME} again ${told.size}`,
    })
    return reply.status === 202
  })
  const health = await client.readAll('/v1/shards', 'shards')
  expect(health.length).toBe(4)
})

test('nothing of it was printed by any part', async () => {
  for (const part of cluster.parts.values()) part.signal('SIGTERM')
  await Promise.all([...cluster.parts.values()].map((part) => part.exited))
  const parts = [...cluster.parts.values()].map((part) => part.lastLines())
  const said = [...parts, ...databaseLines, ...printed].join('\n')
  for (const word of ['submission_committed', 'submission_answered', 'edge_started', 'auditor_started', TRACE_ID])
    expect(said).toContain(word)
  keep([cluster.client.clientSecret, new URL(cluster.databaseUrl).password])
  expect(told.size).toBeGreaterThan(100)
  expect([...told].filter((text) => said.includes(text))).toEqual([])
  expect(said.toLowerCase()).not.toContain(NAME)
})
