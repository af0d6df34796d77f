/** Delivery of one webhook: order, retries, the stored position, the end after five days. */
import { describe, expect, test } from 'vitest'
import { EventsUnavailable } from '../../../../runtime/ports/ledger-events.ts'
import { WebhookStoreUnavailable } from '../../../../runtime/ports/webhook-store.ts'
import { createMemoryTracing, OWN_TRACE } from '../../../support/memory/tracing-memory.ts'
import { ACCEPTED, BROKEN, clientOf, createWebhookScene, DAY_MS, eventAt, START_MS } from './webhook-scene.ts'

const HOUR_MS = 3_600_000

const many = (count: number) => Array.from({ length: count }, (_, index) => eventAt(index))
const idsOf = (count: number) => many(count).map(({ id }) => id)

describe('webhook delivery', () => {
  test('L1: all events arrive once and in order, then new ones within the interval', async () => {
    const scene = createWebhookScene()
    const { clock, log, edge, add, idsTo, progressOf } = scene
    log.push(...many(250))
    const webhookId = await add()
    edge('a').start()
    await clock.pass(1_000)
    expect(idsTo(webhookId)).toEqual(idsOf(250))
    expect(await progressOf(webhookId)).toMatchObject({ position: '250', delivered: 250, failures: 0 })
    log.push(eventAt(250))
    await clock.pass(600)
    expect(idsTo(webhookId)).toEqual(idsOf(251))
  })

  test('L1: the next event waits until the receiver has accepted this one', async () => {
    const { clock, log, edge, add, idsTo, receivers, progressOf } = createWebhookScene()
    log.push(...many(3))
    const webhookId = await add()
    let accept: (result: typeof ACCEPTED) => void = () => undefined
    receivers.set('https://whk_0.example/', () => new Promise((resolve) => (accept = resolve)))
    edge('a').start()
    await clock.pass(9_000)
    expect(idsTo(webhookId)).toEqual(['evt_0'])
    expect(await progressOf(webhookId)).toMatchObject({ position: '0', delivered: 0 })
    accept(ACCEPTED)
    await clock.pass(0)
    expect(idsTo(webhookId)).toEqual(['evt_0', 'evt_1'])
  })

  test('a failed event is sent again after its delay, under the same ID, and holds up the later ones', async () => {
    const { clock, log, edge, add, sent, receivers, store, progressOf } = createWebhookScene()
    log.push(...many(2))
    const webhookId = await add()
    receivers.set('https://whk_0.example/', (_, index) => (index < 3 ? BROKEN : ACCEPTED))
    edge('a').start()
    await clock.pass(1_000)
    expect(await progressOf(webhookId)).toMatchObject({ position: '0', failures: 1, failingSinceMs: START_MS + 1_000 })
    await clock.pass(10_000)
    expect(sent.map(({ message, atMs }) => [message.id, atMs - START_MS])).toEqual([
      ['evt_0', 1_000],
      ['evt_0', 1_010],
      ['evt_0', 1_030],
      ['evt_0', 1_070],
      ['evt_1', 1_070],
    ])
    expect(await progressOf(webhookId)).toMatchObject({ position: '2', failures: 0, failingSinceMs: null })
    const [second, first] = await store.deliveries(webhookId)
    expect(first).toMatchObject({ number: 0, eventId: 'evt_0', status: 'delivered', attempts: 4, attempt: ACCEPTED })
    expect(second).toMatchObject({ number: 1, eventType: 'ledger.account.registered.v1', attempts: 1 })
  })

  test('each attempt is a trace of its own, with its result and nothing of the webhook', async () => {
    const tracing = createMemoryTracing({ monotonic: () => 100 })
    const { clock, log, edge, add, receivers } = createWebhookScene(tracing)
    log.push(...many(1))
    await add()
    receivers.set('https://whk_0.example/', (_, index) => (index < 1 ? BROKEN : ACCEPTED))
    edge('a').start()
    await clock.pass(10_000)
    const { traceId, spanId } = OWN_TRACE
    const span = { traceId, spanId, parentSpanId: '', endedMs: 100 }
    expect(tracing.spans).toEqual([
      { ...span, startedMs: 96, work: { kind: 'webhook', status: 500, error: 'status' } },
      { ...span, startedMs: 97, work: { kind: 'webhook', status: 204, error: null } },
    ])
  })

  test('a dead receiver is tried for the last time five days after its first failure, then disabled', async () => {
    const { clock, log, edge, add, sent, receivers, state, store, lines } = createWebhookScene()
    log.push(...many(2))
    const webhookId = await add()
    const memory = state.webhooks.get(webhookId)
    const failingSinceMs = START_MS - 5 * DAY_MS + HOUR_MS
    if (memory !== undefined) {
      const progress = { ...memory.stored.progress, failures: 24, failingSinceMs }
      memory.stored = { ...memory.stored, progress }
    }
    receivers.set('https://whk_0.example/', () => BROKEN)
    edge('a').start()
    await clock.pass(HOUR_MS - 1_000)
    expect((await store.webhook(webhookId))?.webhook.disabled).toBeNull()
    await clock.pass(2_000)
    const atMs = failingSinceMs + 5 * DAY_MS
    expect((await store.webhook(webhookId))?.webhook.disabled).toEqual({ atMs, reason: 'delivery_failed' })
    expect(sent.map((one) => [one.message.id, one.atMs])).toEqual([
      ['evt_0', START_MS + 1_000],
      ['evt_0', atMs],
    ])
    expect(lines.filter(({ event }) => event === 'webhook_disabled')).toHaveLength(1)
    await clock.pass(HOUR_MS)
    expect(sent).toHaveLength(2)
  })

  test('the position moves past events that the filter leaves out, and never past an unaccepted one', async () => {
    const { clock, log, edge, add, idsTo, receivers, progressOf } = createWebhookScene()
    log.push(eventAt(0, 'bob'), eventAt(1, 'alice'), eventAt(2, 'bob'))
    const webhookId = await add({ accountId: 'alice' })
    receivers.set('https://whk_0.example/', () => BROKEN)
    edge('a').start()
    await clock.pass(1_000)
    expect(await progressOf(webhookId)).toMatchObject({ position: '1', delivered: 0 })
    receivers.delete('https://whk_0.example/')
    await clock.pass(5_000)
    expect(idsTo(webhookId)).toEqual(['evt_1', 'evt_1'])
    expect(await progressOf(webhookId)).toMatchObject({ position: '3', delivered: 1 })
  })

  test('the position is stored while a long log is read without an event for the webhook', async () => {
    const { clock, log, edge, add, reads, progressOf } = createWebhookScene()
    log.push(...Array.from({ length: 100 }, (_, index) => eventAt(index, 'bob')))
    const webhookId = await add({ accountId: 'alice' })
    Object.assign(reads, { limit: 1, takesMs: 1_000 })
    edge('a').start()
    await clock.pass(80_000)
    expect(Number((await progressOf(webhookId))?.position)).toBeGreaterThan(40)
  })

  test('L2: while a receiver accepts without a pause, the position is stored in between', async () => {
    const { clock, log, edge, add, receivers, progressOf } = createWebhookScene()
    log.push(...many(90))
    const webhookId = await add()
    const stored: number[] = []
    receivers.set('https://whk_0.example/', async () => {
      stored.push((await progressOf(webhookId))?.delivered ?? -1)
      await new Promise<void>((resolve) => clock.after(20, resolve))
      return ACCEPTED
    })
    edge('a').start()
    await clock.pass(10_000)
    expect(stored).toHaveLength(90)
    for (const [accepted, saved] of stored.entries()) {
      expect(saved).toBeLessThanOrEqual(accepted)
      expect(saved).toBeGreaterThanOrEqual(accepted - 14)
    }
  })

  test('L2: an event that a slow receiver accepted is stored before the next one is sent', async () => {
    const { clock, log, edge, add, receivers, progressOf } = createWebhookScene()
    log.push(...many(3))
    const webhookId = await add()
    const stored: unknown[] = []
    receivers.set('https://whk_0.example/', async () => {
      stored.push((await progressOf(webhookId))?.delivered)
      await new Promise<void>((resolve) => clock.after(9_000, resolve))
      return ACCEPTED
    })
    edge('a').start()
    await clock.pass(40_000)
    expect(stored).toEqual([0, 1, 2])
  })

  test('L5: events are read again before they are sent late', async () => {
    const { clock, log, edge, add, receivers, sent } = createWebhookScene()
    log.push(...many(3))
    await add()
    receivers.set('https://whk_0.example/', async () => {
      await new Promise<void>((resolve) => clock.after(2_000, resolve))
      return ACCEPTED
    })
    edge('a').start()
    await clock.pass(1_500)
    for (const [index, event] of log.entries()) log[index] = { ...event, id: `${event.id} erased` }
    await clock.pass(20_000)
    expect(sent.map(({ message }) => message.id)).toEqual(['evt_0', 'evt_1 erased', 'evt_2 erased'])
  })

  test('failures of an event that is left out now do not count for the next one', async () => {
    const { clock, log, edge, add, clients, access, receivers, progressOf } = createWebhookScene()
    log.push(eventAt(0, 'alice'), eventAt(1, 'bob'))
    const webhookId = await add()
    receivers.set('https://whk_0.example/', () => BROKEN)
    const deliverer = edge('a')
    deliverer.start()
    await clock.pass(60_000)
    expect((await progressOf(webhookId))?.failures).toBeGreaterThan(5)
    clients.set('owner', clientOf('owner', { accounts: ['bob'] }))
    access.changed.add('owner')
    await clock.pass(60_000)
    const progress = await progressOf(webhookId)
    expect(progress?.position).toBe('1')
    expect(progress?.failingSinceMs).toBeGreaterThan(START_MS + 60_000)
    clients.set('owner', clientOf('owner', { accounts: ['carol'] }))
    access.changed.add('owner')
    await clock.pass(60_000)
    expect(await progressOf(webhookId)).toMatchObject({
      position: '2',
      delivered: 0,
      failures: 0,
      failingSinceMs: null,
    })
    expect(deliverer.measures()).toMatchObject({ failing: 0, lagMs: 0 })
  })

  test('while the log cannot be read, the lag grows and one line is logged', async () => {
    const { clock, edge, add, reads, lines } = createWebhookScene()
    await add()
    const deliverer = edge('a')
    deliverer.start()
    await clock.pass(2_000)
    reads.failure = new EventsUnavailable('away')
    await clock.pass(60_000)
    expect(deliverer.measures().lagMs).toBeGreaterThan(55_000)
    expect(lines.filter(({ event }) => event === 'webhook_events_not_read')).toHaveLength(1)
    reads.failure = null
    await clock.pass(2_000)
    expect(deliverer.measures().lagMs).toBe(0)
  })

  test('both secrets sign until the previous one ends', async () => {
    const { clock, log, edge, add, sent } = createWebhookScene()
    const previous = [{ secret: 'whsec_old', untilMs: START_MS + 5_000 }]
    await add({ secrets: { current: 'whsec_new', previous } })
    edge('a').start()
    log.push(eventAt(0))
    await clock.pass(2_000)
    log.push(eventAt(1))
    await clock.pass(8_000)
    log.push(eventAt(2))
    await clock.pass(2_000)
    expect(sent.map(({ target }) => target.secrets)).toEqual([
      ['whsec_new', 'whsec_old'],
      ['whsec_new', 'whsec_old'],
      ['whsec_new'],
    ])
  })

  test('while the log cannot be read nothing is lost, and after a restore the webhook is disabled', async () => {
    const { clock, log, edge, add, idsTo, reads, store } = createWebhookScene()
    log.push(...many(2))
    const webhookId = await add()
    const foreign = await add({}, 'foreign')
    reads.failure = new EventsUnavailable('no database')
    edge('a').start()
    await clock.pass(5_000)
    expect((await store.webhook(foreign))?.webhook.disabled).toBeNull()
    reads.failure = null
    await clock.pass(2_000)
    expect(idsTo(webhookId)).toEqual(idsOf(2))
    expect((await store.webhook(foreign))?.webhook.disabled?.reason).toBe('position_lost')
  })

  test('L3: without a store nothing more is sent once the lease may have ended', async () => {
    const { clock, log, edge, add, sent, state, idsTo } = createWebhookScene()
    const webhookId = await add()
    edge('a').start()
    await clock.pass(1_000)
    state.failure = new WebhookStoreUnavailable('no database')
    await clock.pass(15_000)
    log.push(...many(2))
    await clock.pass(5_000)
    expect(sent).toEqual([])
    state.failure = null
    await clock.pass(2_000)
    expect(idsTo(webhookId)).toEqual(idsOf(2))
  })
})
