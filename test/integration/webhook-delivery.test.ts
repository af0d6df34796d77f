/** Webhooks on a real PostgreSQL and over HTTP: two edges that race for leases, one that is paused, a receiver that fails. */
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createWebhookStore, type PostgresWebhookStore } from '../../infra/postgres/access/webhook-store-postgres.ts'
import { createSystemClock } from '../../infra/system/clock-system.ts'
import { createSystemRandom } from '../../infra/system/random-system.ts'
import { ANY_ADDRESS } from '../../infra/webhooks/address-rules.ts'
import { createWebhookSender, type HttpWebhookSender } from '../../infra/webhooks/webhook-sender-http.ts'
import type { LedgerEvent } from '../../runtime/ports/ledger-events.ts'
import { createEventFeed } from '../../runtime/webhooks/event-feed.ts'
import { WebhookDeliverer } from '../../runtime/webhooks/webhook-deliverer.ts'
import { createWebhookOwners } from '../../runtime/webhooks/webhook-owners.ts'
import { aWebhook } from '../contract/webhook-store/webhook-store-scene.ts'
import { createLedgerDatabase, type LedgerDatabase, vaultOf } from '../support/postgres/ledger-database.ts'
import { clientOf, eventAt } from '../unit/runtime/webhooks/webhook-scene.ts'

const DEADLINE = { timeout: 120_000, interval: 50 }
const FAILS_EVERY = 5

const clock = createSystemClock()
const random = createSystemRandom()
const quiet = { info: () => undefined, warn: () => undefined, error: () => undefined }
const log: LedgerEvent[] = []
/** IDs of accepted messages, by path. */
const accepted = new Map<string, string[]>()
let database: LedgerDatabase
let stores: PostgresWebhookStore[]
let senders: HttpWebhookSender[]
let server: Server
let requests = 0

beforeAll(async () => {
  database = await createLedgerDatabase()
  const { url } = database
  const open = async () => createWebhookStore({ url, vault: await vaultOf(url) })
  stores = [await open(), await open()]
  senders = [1, 2].map(() => createWebhookSender({ mayConnect: ANY_ADDRESS, now: Date.now }))
  server = createServer((request, response) => {
    request.resume().on('end', () => {
      requests += 1
      const isAccepted = requests % FAILS_EVERY !== 0
      const { url: path = '' } = request
      if (isAccepted) accepted.set(path, [...(accepted.get(path) ?? []), String(request.headers['webhook-id'])])
      response.writeHead(isAccepted ? 204 : 500).end()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
})
afterAll(async () => {
  server.closeAllConnections()
  server.close()
  for (const sender of senders) sender.close()
  await Promise.all(stores.map((store) => store.close()))
  await database.drop()
})

/** `isPaused`: the store replies to nothing, as for an edge whose process stands still. */
function edge(index: 0 | 1, isPaused: () => boolean = () => false): WebhookDeliverer {
  const [store, sender] = [stores[index], senders[index]]
  if (store === undefined || sender === undefined) throw new Error('two were made')
  const never = new Promise<never>(() => undefined)
  return new WebhookDeliverer({
    store: {
      claim: (holder, limit) => (isPaused() ? never : store.claim(holder, limit)),
      renew: (leases) => (isPaused() ? never : store.renew(leases)),
      save: (lease, saved) => (isPaused() ? never : store.save(lease, saved)),
    },
    feed: createEventFeed(
      {
        read: async (after) => {
          const from = Number(after)
          const events = log.slice(from, from + 10)
          return { events, next: String(from + events.length), atEnd: from + events.length === log.length }
        },
      },
      clock,
    ),
    sender,
    show: ({ id, name }) => ({ type: name, body: JSON.stringify({ id }) }),
    clock,
    random,
    log: quiet,
    owners: createWebhookOwners({
      changesSince: async () => ({ mark: 'm', changed: { clients: new Set(), sessions: new Set() } }),
      findAccess: async (clientId) => ({ client: clientOf(clientId), sessionLive: false }),
    }),
    filterOf: () => () => true,
    holder: `edge-${index}`,
  })
}

async function add(path: string): Promise<string> {
  const { port } = server.address() as AddressInfo
  const webhook = aWebhook({ url: `http://127.0.0.1:${port}${path}` })
  await stores[0]?.create(webhook, '0')
  return webhook.webhookId
}

async function positionOf(webhookId: string): Promise<string | undefined> {
  return (await stores[0]?.webhook(webhookId))?.progress.position
}

test(
  'a receiver that fails one time in five accepts exactly the events of the log, in order',
  { timeout: 180_000 },
  async () => {
    log.push(...Array.from({ length: 16 }, (_, index) => eventAt(index)))
    const ids = [await add('/a'), await add('/b')]
    const edges = [edge(0), edge(1)]
    for (const one of edges) one.start()
    for (const id of ids) await expect.poll(() => positionOf(id), DEADLINE).toBe('16')
    await Promise.all(edges.map((one) => one.stop()))
    for (const path of ['/a', '/b']) expect(accepted.get(path)).toEqual(log.map(({ id }) => id))
    // Their positions mean nothing in the log of the next test.
    for (const id of ids) await stores[0]?.remove(id)
  },
)

test(
  'the webhook of a paused edge is taken over, and the paused edge moves no position',
  { timeout: 180_000 },
  async () => {
    log.splice(0, log.length, eventAt(0))
    const id = await add('/paused')
    let isPaused = false
    const paused = edge(0, () => isPaused)
    paused.start()
    await expect.poll(() => positionOf(id), DEADLINE).toBe('1')
    const [held] = (await stores[0]?.deliveries(id)) ?? []
    expect(held?.eventId).toBe('evt_0')
    isPaused = true
    log.push(...Array.from({ length: 6 }, (_, index) => eventAt(index + 1)))
    const other = edge(1)
    other.start()
    await expect.poll(() => positionOf(id), DEADLINE).toBe('7')
    isPaused = false
    const lost = await stores[0]?.save(
      { webhookId: id, number: 1 },
      {
        progress: { position: '2', delivered: 2, failures: 0, failingSinceMs: null, nextAttemptAtMs: 0 },
        deliveries: [],
      },
    )
    expect([lost, await positionOf(id)]).toEqual([false, '7'])
    await other.stop()
    const firsts = [...new Set(accepted.get('/paused'))]
    expect(firsts).toEqual(log.map((event) => event.id))
  },
)
