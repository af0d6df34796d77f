/** The webhooks of a running ledger as its operators use them: list, test, replay, delete. Failures and kills: suites/events.suite.ts. */
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type LedgerClient, membersOf } from '../support/client/client.ts'
import { keyed } from '../support/client/client-moves.ts'
import { buildOnce, freshDirectory, LedgerUp, runLedger, until } from './start-harness.ts'

let ledger: LedgerUp
let client: LedgerClient
let server: Server
/** The bodies of messages, in the order of their arrival. */
const received: string[] = []

beforeAll(async () => {
  await buildOnce()
  ledger = await LedgerUp.start(await freshDirectory())
  client = await ledger.client('admin')
  server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      received.push(Buffer.concat(chunks).toString())
      response.writeHead(204).end()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
})
afterAll(async () => {
  server.closeAllConnections()
  server.close()
  await ledger.destroy()
})

test('operators list, test, replay and delete a webhook', { timeout: 300_000 }, async () => {
  const env = { LEDGER_DATA_DIR: ledger.dataDir }
  const { port } = server.address() as AddressInfo
  expect((await client.post('/v1/webhooks', { url: `http://127.0.0.1:${port}/hook` })).status).toBe(201)
  const listed = await runLedger(['webhooks', 'list', '--json'], env)
  const webhook = JSON.parse(listed.out) as Readonly<Record<string, string>>
  const id = webhook['webhook_id'] ?? ''
  expect([listed.code, webhook]).toEqual([0, expect.objectContaining({ status: 'active' })])
  expect(listed.out).not.toContain('whsec_')

  const tested = await runLedger(['webhooks', 'test', id, '--json'], env)
  expect([tested.code, tested.out]).toEqual([0, expect.stringContaining('"http_status":204')])
  expect(received.splice(0)).toEqual([expect.stringContaining('ledger.webhook.test.v1')])

  const alice = await client.register('alice@webhooks')
  expect((await client.submit(alice, keyed({ type: 'credit', amount: '1' }))).status).toBe(202)
  await until('both events arrive', () => received.length === 2 || undefined)
  const { events } = membersOf(await client.get('/v1/events?account_id=alice@webhooks'))
  const sent = received.splice(0)
  expect(sent.map((body) => JSON.parse(body) as unknown)).toEqual(events)

  const replayed = await runLedger(['webhooks', 'replay', id, '--since', '2020-01-01T00:00:00Z'], env)
  expect([replayed.code, replayed.err]).toEqual([0, expect.stringContaining('sends its events since 2020')])
  await until('all are sent again', () => received.includes(sent[1] ?? '') || undefined)
  expect(received.slice(-2)).toEqual(sent)

  const late = await runLedger(['webhooks', 'replay', id, '--since', '2200-01-01T00:00:00Z'], env)
  expect([late.code, late.err]).toEqual([1, expect.stringContaining('there is no event since 2200')])
  const deleted = await runLedger(['webhooks', 'delete', id], env)
  expect([deleted.code, deleted.err]).toEqual([0, expect.stringContaining('is deleted')])
  expect((await client.get(`/v1/webhooks/${id}`)).status).toBe(404)
  const unknown = await runLedger(['webhooks', 'test', 'whk_none'], env)
  expect([unknown.code, unknown.err]).toEqual([1, expect.stringContaining('there is no webhook whk_none')])
})
