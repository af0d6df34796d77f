/** A receiver without a pause: what runs beside the message in flight, what waits for it, and what is read for it. */
import { describe, expect, test } from 'vitest'
import { delay } from '../../../../runtime/ports/clock.ts'
import { KEPT_DELIVERIES, type WebhookStore, WebhookStoreUnavailable } from '../../../../runtime/ports/webhook-store.ts'
import { ACCEPTED, BROKEN, clientOf, createWebhookScene, eventAt, START_MS } from './webhook-scene.ts'

const many = (count: number) => Array.from({ length: count }, (_, index) => eventAt(index))
const idsOf = (count: number) => many(count).map(({ id }) => id)

/** A receiver that takes `takesMs` for each message. */
async function createScene(events: number, takesMs: number) {
  const scene = createWebhookScene()
  scene.log.push(...many(events))
  const webhookId = await scene.add()
  scene.receivers.set(`https://${webhookId}.example/`, async () => {
    await delay(scene.clock, takesMs)
    return ACCEPTED
  })
  return { ...scene, webhookId }
}

describe('busy webhook delivery', () => {
  test('the message of the next event is made once, while the receiver handles this one', async () => {
    const { clock, edge, sent, shown } = await createScene(3, 50)
    edge('a').start()
    await clock.pass(1_049)
    expect([sent.length, shown]).toEqual([1, ['evt_0', 'evt_1']])
    await clock.pass(1_000)
    expect(shown).toEqual(idsOf(3))
  })

  test('a prepared message is not sent if the rights of the client no longer permit it', async () => {
    const { clock, edge, sent, shown, clients, access, receivers } = await createScene(2, 0)
    receivers.set('https://whk_0.example/', async () => {
      await delay(clock, 5_000)
      return ACCEPTED
    })
    edge('a').start()
    await clock.pass(1_000)
    expect(shown).toEqual(['evt_0', 'evt_1'])
    clients.set('owner', clientOf('owner', { accounts: ['bob'] }))
    access.changed.add('owner')
    await clock.pass(20_000)
    expect(sent.map(({ message }) => message.id)).toEqual(['evt_0'])
  })

  test('an event that cannot be shown in time is shown again once it is due', async () => {
    const { clock, edge, shown, failing, idsTo, webhookId } = await createScene(2, 50)
    failing.add('evt_1')
    edge('a').start()
    await clock.pass(1_030)
    expect([shown, idsTo(webhookId)]).toEqual([['evt_0'], ['evt_0']])
    failing.clear()
    await clock.pass(1_000)
    expect(idsTo(webhookId)).toEqual(['evt_0', 'evt_1'])
  })

  test('the next page is read while the events of this one are sent', async () => {
    const { clock, edge, idsTo, webhookId, sent, reads } = await createScene(40, 5)
    Object.assign(reads, { limit: 10, takesMs: 20 })
    edge('a').start()
    await clock.pass(1_000 + 20 + 40 * 5)
    expect(idsTo(webhookId)).toEqual(idsOf(40))
    expect(sent.map(({ atMs }) => atMs - START_MS)).toEqual(Array.from({ length: 40 }, (_, index) => 1_020 + 5 * index))
  })

  test.for([
    { takesMs: 2_000, readsAnEvent: 1, eventsAnEvent: 1 },
    { takesMs: 600, readsAnEvent: 1, eventsAnEvent: 1 },
    { takesMs: 100, readsAnEvent: 0.25, eventsAnEvent: 1.5 },
  ])('P2: for a receiver that takes $takesMs ms for each event, few events are read twice', async (pace) => {
    const { clock, edge, idsTo, webhookId, reads } = await createScene(400, pace.takesMs)
    edge('a').start()
    // The first page has its full size.
    await clock.pass(20_000)
    const before = { ...reads, delivered: idsTo(webhookId).length }
    await clock.pass(100 * pace.takesMs)
    const delivered = idsTo(webhookId).length - before.delivered
    expect(delivered).toBeGreaterThan(80)
    expect((reads.count - before.count) / delivered).toBeLessThanOrEqual(pace.readsAnEvent)
    expect((reads.events - before.events) / delivered).toBeLessThanOrEqual(pace.eventsAnEvent)
  })

  test('P2: for a receiver that fails, each attempt reads one event', async () => {
    const { clock, edge, receivers, sent, reads } = await createScene(400, 0)
    receivers.set('https://whk_0.example/', () => BROKEN)
    edge('a').start()
    await clock.pass(60_000)
    expect(sent.length).toBeGreaterThan(8)
    expect(reads.events).toBeLessThanOrEqual(100 + sent.length)
  })

  test('the pause before the next read begins with a page, not after its events', async () => {
    const { clock, edge, log, sent, reads } = await createScene(4, 20)
    edge('a').start()
    await clock.pass(1_000)
    log.push(eventAt(4))
    await clock.pass(1_000)
    expect(sent.at(-1)).toMatchObject({ atMs: START_MS + 1_100, message: { id: 'evt_4' } })
    expect(reads.count).toBeLessThanOrEqual(12)
  })

  test('R2: events are sent while the position is stored, until the stored one is a second old', async () => {
    const { clock, edge, store, sent } = await createScene(400, 10)
    let isStuck = false
    const stuck: WebhookStore = {
      ...store,
      save: (lease, saved) => (isStuck ? new Promise(() => undefined) : store.save(lease, saved)),
    }
    edge('a', undefined, stuck).start()
    await clock.pass(1_500)
    isStuck = true
    const before = sent.length
    await clock.pass(5_000)
    const more = sent.length - before
    expect([more > 50, more <= 101]).toEqual([true, true])
  })

  test('R1, L2: saves follow each other, and none is ahead of the accepted events', async () => {
    const { clock, edge, store, progressOf, webhookId } = await createScene(400, 5)
    let [running, atOnce] = [0, 0]
    const stored: number[] = []
    const slow: WebhookStore = {
      ...store,
      save: async (lease, saved) => {
        running += 1
        atOnce = Math.max(atOnce, running)
        stored.push(saved.progress.delivered)
        await delay(clock, 300)
        running -= 1
        return store.save(lease, saved)
      },
    }
    edge('a', undefined, slow).start()
    await clock.pass(10_000)
    expect(stored).toEqual([...stored].sort((a, b) => a - b))
    expect([stored.length > 3, atOnce]).toEqual([true, 1])
    expect(await progressOf(webhookId)).toMatchObject({ position: '400', delivered: 400 })
  })

  test('L3: a delivery ends with the first save that finds the lease lost', async () => {
    const { clock, edge, store, sent, webhookId } = await createScene(400, 10)
    let isChanged = false
    const changed: WebhookStore = {
      ...store,
      claim: async (holder, limit) => (isChanged ? [] : store.claim(holder, limit)),
      renew: async (leases) => leases,
    }
    edge('a', undefined, changed).start()
    await clock.pass(1_500)
    isChanged = true
    await store.change(webhookId, (stored) => stored)
    const before = sent.length
    await clock.pass(3_000)
    expect(sent.length - before).toBeLessThanOrEqual(26)
  })

  test('R3: a delivery ends soon after a save that failed beside it', async () => {
    const { clock, edge, store, sent, lines } = await createScene(400, 10)
    let isBroken = false
    const broken: WebhookStore = {
      ...store,
      claim: async (holder, limit) => (isBroken ? [] : store.claim(holder, limit)),
      save: async (lease, saved) => {
        if (isBroken) throw new WebhookStoreUnavailable('no database')
        return store.save(lease, saved)
      },
    }
    edge('a', undefined, broken).start()
    await clock.pass(1_500)
    isBroken = true
    const before = sent.length
    await clock.pass(5_000)
    expect(sent.length - before).toBeLessThanOrEqual(51)
    expect(lines.map(({ event }) => event)).toEqual(['webhook_delivery_broken_off'])
  })

  test('R3: it ends, too, if no event comes after the failed save', async () => {
    const { clock, edge, store, lines, state } = await createScene(30, 10)
    const broken: WebhookStore = {
      ...store,
      claim: async (holder, limit) => (lines.length > 0 ? [] : store.claim(holder, limit)),
      save: async (lease, saved) => {
        if (saved.progress.delivered < 30) await delay(clock, 100)
        if (saved.progress.delivered < 30) throw new WebhookStoreUnavailable('no database')
        return store.save(lease, saved)
      },
    }
    edge('a', undefined, broken).start()
    await clock.pass(5_000)
    expect(lines.map(({ event }) => event)).toEqual(['webhook_delivery_broken_off'])
    expect(state.webhooks.get('whk_0')?.stored.progress.delivered).toBe(0)
  })

  test('a busy webhook stores a few times a second, and only the deliveries that are kept', async () => {
    const { clock, edge, store, webhookId, progressOf } = await createScene(2_000, 1)
    const sizes: number[] = []
    const counted: WebhookStore = {
      ...store,
      save: (lease, saved) => {
        sizes.push(saved.deliveries.length)
        return store.save(lease, saved)
      },
    }
    edge('a', undefined, counted).start()
    await clock.pass(6_000)
    expect(await progressOf(webhookId)).toMatchObject({ delivered: 2_000 })
    expect(sizes.length).toBeLessThanOrEqual(12)
    expect(Math.max(...sizes)).toBeLessThanOrEqual(KEPT_DELIVERIES)
    const kept = await store.deliveries(webhookId)
    expect(kept.map(({ number }) => number)).toEqual(Array.from({ length: 100 }, (_, index) => 1_999 - index))
  })

  test('a webhook that is up to date stores a few times a second, and what it accepted last within the next pauses', async () => {
    const { clock, edge, store, log, webhookId, progressOf } = await createScene(1, 1)
    let saves = 0
    const counted: WebhookStore = {
      ...store,
      save: (lease, saved) => {
        saves += 1
        return store.save(lease, saved)
      },
    }
    edge('a', undefined, counted).start()
    await clock.pass(1_050)
    for (let index = 1; index <= 50; index += 1) {
      log.push(eventAt(index))
      await clock.pass(100)
    }
    await clock.pass(400)
    expect(saves).toBeLessThanOrEqual(20)
    expect(await progressOf(webhookId)).toMatchObject({ position: '51', delivered: 51 })
  })
})
