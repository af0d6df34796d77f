/** Webhooks of a running ledger: a receiver that fails, an edge that is killed, and the commands of operators. */
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Webhook as StandardWebhook } from 'standardwebhooks'
import { type LedgerClient, membersOf } from '../support/client/client.ts'
import { keyed } from '../support/client/client-moves.ts'
import { buildOnce, freshDirectory, LedgerUp, runLedger, until } from './start-harness.ts'

const ORDERS = 30
const FAILS_EVERY = 5

interface Message {
  readonly id: string
  readonly body: string
  readonly headers: Readonly<Record<string, string>>
}

let ledger: LedgerUp
let client: LedgerClient
let server: Server
/** In the order of their arrival. */
const accepted: Message[] = []
let requests = 0

beforeAll(async () => {
  await buildOnce()
  ledger = await LedgerUp.start(await freshDirectory(), { edges: 2 })
  client = await ledger.client('admin')
  server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      requests += 1
      const isAccepted = requests % FAILS_EVERY !== 0
      const headers = Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)]))
      const body = Buffer.concat(chunks).toString()
      if (isAccepted) accepted.push({ id: headers['webhook-id'] ?? '', body, headers })
      response.writeHead(isAccepted ? 204 : 500).end()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
})
afterAll(async () => {
  server.closeAllConnections()
  server.close()
  await ledger.destroy()
})

/** The events after the cursor, as the API shows them. */
async function eventsAfter(cursor: string): Promise<readonly { readonly id: string }[]> {
  const events: { readonly id: string }[] = []
  for (let after = cursor; ;) {
    const reply = await client.get(`/v1/events?page_size=10&after=${encodeURIComponent(after)}`)
    const page = JSON.parse(reply.body) as { events: { readonly id: string }[]; next_cursor: string }
    if (page.events.length === 0) return events
    events.push(...page.events)
    after = page.next_cursor
  }
}

/** The edge that logs failed attempts. */
function deliveringEdge(): 'edge-1' | 'edge-2' | undefined {
  return (['edge-1', 'edge-2'] as const).find((edge) =>
    readFileSync(join(ledger.dataDir, 'logs', `${edge}.log`), 'utf8').includes('webhook_attempt_failed'),
  )
}

test(
  'a receiver that fails one time in five gets exactly the events of the log, in order, though the delivering edge dies',
  { timeout: 300_000 },
  async () => {
    const { next_cursor: start } = membersOf(await client.get('/v1/events?after=latest'))
    const { port } = server.address() as AddressInfo
    const created = membersOf(await client.post('/v1/webhooks', { url: `http://127.0.0.1:${port}/hook` }))
    const alice = await client.register('alice@webhooks')
    for (let order = 0; order < ORDERS; order += 1) {
      expect((await client.submit(alice, keyed({ type: 'credit', amount: '1' }))).status).toBe(202)
    }
    const edge = await until('an edge delivers', () => (accepted.length >= 8 ? deliveringEdge() : undefined))
    process.kill(ledger.pidOf(edge), 'SIGKILL')
    const before = accepted.length
    const log = await until('the log has all events', async () => {
      const events = await eventsAfter(String(start)).catch(() => [])
      return events.length === ORDERS + 1 ? events : undefined
    })
    expect(before).toBeLessThan(log.length)
    await until('all were accepted', () => accepted.some(({ id }) => id === log.at(-1)?.id) || undefined, 200_000)

    const arrived = new Map(accepted.map((message) => [message.id, message]))
    expect([...arrived.keys()]).toEqual(log.map(({ id }) => id))
    expect([...arrived.values()].map(({ body }) => JSON.parse(body) as unknown)).toEqual(log)
    const receiver = new StandardWebhook(String(created['secret']))
    for (const { body, headers } of accepted) expect(() => receiver.verify(body, headers)).not.toThrow()
  },
)

test('operators list, test and replay a webhook', { timeout: 300_000 }, async () => {
  const env = { LEDGER_DATA_DIR: ledger.dataDir }
  const listed = await runLedger(['webhooks', 'list'], env)
  const webhook = JSON.parse(listed.out) as Readonly<Record<string, string>>
  const id = webhook['webhook_id'] ?? ''
  expect([listed.code, webhook]).toEqual([0, expect.objectContaining({ status: 'active' })])
  expect(listed.out).not.toContain('whsec_')

  // One of two consecutive messages is accepted, whichever comes first.
  const tested = [await runLedger(['webhooks', 'test', id], env), await runLedger(['webhooks', 'test', id], env)]
  expect(tested.map(({ code, out }) => code === 0 || out.includes('"http_status":500'))).toEqual([true, true])
  expect(tested.some(({ code }) => code === 0)).toBe(true)
  expect(accepted.at(-1)?.body).toContain('ledger.webhook.test.v1')

  const events = [...new Set(accepted.map((message) => message.id))].filter((one) => !isTest(one))
  accepted.length = 0
  const replayed = await runLedger(['webhooks', 'replay', id, '--since', '2020-01-01T00:00:00Z'], env)
  expect([replayed.code, replayed.err]).toEqual([0, expect.stringContaining('sends its events since 2020')])
  await until('all are sent again', () => accepted.some((one) => one.id === events.at(-1)) || undefined, 200_000)
  const again = [...new Set(accepted.map((message) => message.id))]
  expect(again.slice(-events.length)).toEqual(events)

  const late = await runLedger(['webhooks', 'replay', id, '--since', '2200-01-01T00:00:00Z'], env)
  expect([late.code, late.err]).toEqual([1, expect.stringContaining('there is no event since 2200')])
  const unknown = await runLedger(['webhooks', 'test', 'whk_none'], env)
  expect([unknown.code, unknown.err]).toEqual([1, expect.stringContaining('there is no webhook whk_none')])
})

function isTest(eventId: string): boolean {
  return accepted.some(({ id, body }) => id === eventId && body.includes('ledger.webhook.test.v1'))
}
