/** Deliverers of several edges: leases, take-over, clients that change, receivers that do not affect each other. */
import { describe, expect, test } from 'vitest'
import { AccessStoreUnavailable } from '../../../../runtime/ports/access-store.ts'
import type { WebhookStore } from '../../../../runtime/ports/webhook-store.ts'
import { ACCEPTED, BROKEN, clientOf, createWebhookScene, eventAt } from './webhook-scene.ts'

const many = (count: number) => Array.from({ length: count }, (_, index) => eventAt(index))
const idsOf = (count: number) => many(count).map(({ id }) => id)

describe('webhook deliverer', () => {
  test('several edges deliver each event of each webhook once, and share the webhooks', async () => {
    const { clock, log, edge, add, idsTo, sent } = createWebhookScene()
    log.push(...many(20))
    const ids: string[] = []
    for (let index = 0; index < 30; index += 1) ids.push(await add({ ownerId: `owner-${index}` }))
    for (const name of ['a', 'b']) edge(name).start()
    await clock.pass(3_000)
    for (const id of ids) expect(idsTo(id)).toEqual(idsOf(20))
    expect(new Set(sent.map((one) => one.edge))).toEqual(new Set(['a', 'b']))
  })

  test('a webhook that an edge has created is delivered by it at once', async () => {
    const { clock, log, edge, add, idsTo } = createWebhookScene()
    log.push(...many(3))
    const deliverer = edge('a')
    deliverer.start()
    await clock.pass(1_010)
    const webhookId = await add()
    deliverer.claimNow()
    await clock.pass(10)
    expect(idsTo(webhookId)).toEqual(idsOf(3))
    await deliverer.stop()
    const later = await add()
    deliverer.claimNow()
    await clock.pass(2_000)
    expect(idsTo(later)).toEqual([])
  })

  test('W1: an edge that stops gives its webhooks to another at once, after the message in flight', async () => {
    const { clock, log, edge, add, idsTo, sent, receivers } = createWebhookScene()
    const webhookId = await add()
    const [a, b] = [edge('a'), edge('b')]
    a.start()
    await clock.pass(1_000)
    let accept: (result: typeof ACCEPTED) => void = () => undefined
    receivers.set('https://whk_0.example/', () => new Promise((resolve) => (accept = resolve)))
    log.push(...many(3))
    await clock.pass(600)
    const stopped = a.stop()
    accept(ACCEPTED)
    await stopped
    receivers.clear()
    b.start()
    await clock.pass(1_500)
    expect(idsTo(webhookId)).toEqual(idsOf(3))
    expect(sent.map((one) => one.edge)).toEqual(['a', 'b', 'b'])
  })

  test('W1: an edge that stops while it claims releases the claimed webhooks', async () => {
    const { clock, edge, add, store, state } = createWebhookScene()
    const webhookId = await add()
    let reply: () => void = () => undefined
    const slow: WebhookStore = {
      ...store,
      claim: async (holder, limit) => {
        const claimed = await store.claim(holder, limit)
        await new Promise<void>((resolve) => (reply = resolve))
        return claimed
      },
    }
    const deliverer = edge('a', undefined, slow)
    deliverer.start()
    await clock.pass(1_000)
    expect(state.webhooks.get(webhookId)?.leasedUntilMs).not.toBeNull()
    const stopped = deliverer.stop()
    reply()
    await stopped
    expect(state.webhooks.get(webhookId)?.leasedUntilMs).toBeNull()
  })

  test('W1: the webhooks of an edge that died are taken over once their leases have ended', async () => {
    const { clock, log, edge, add, idsTo, store, sent } = createWebhookScene()
    const webhookId = await add()
    let isDead = false
    const never = new Promise<never>(() => undefined)
    const dying: WebhookStore = {
      ...store,
      claim: (holder, limit) => (isDead ? never : store.claim(holder, limit)),
      renew: (leases) => (isDead ? never : store.renew(leases)),
      save: (lease, saved) => (isDead ? never : store.save(lease, saved)),
    }
    edge('a', undefined, dying).start()
    await clock.pass(1_000)
    edge('b').start()
    isDead = true
    // The dead edge sends on until its first attempt to store something.
    log.push(...many(1))
    await clock.pass(200)
    log.push(...many(3).slice(1))
    await clock.pass(3_000)
    expect(sent.map((one) => one.edge)).toEqual(['a'])
    await clock.pass(12_000)
    expect(idsTo(webhookId)).toEqual(['evt_0', ...idsOf(3)])
    expect(sent.map((one) => one.edge)).toEqual(['a', 'b', 'b', 'b'])
  })

  test('L4: neither a dead nor a silent receiver holds up the others', async () => {
    const { clock, log, edge, add, idsTo, receivers } = createWebhookScene()
    log.push(...many(50))
    for (let index = 0; index < 8; index += 1) {
      const dead = await add({ ownerId: `dead-${index}` })
      const silent = await add({ ownerId: `silent-${index}` })
      receivers.set(`https://${dead}.example/`, () => BROKEN)
      receivers.set(`https://${silent}.example/`, () => new Promise(() => undefined))
    }
    const live = await add({ ownerId: 'live' })
    const deliverer = edge('a')
    deliverer.start()
    await clock.pass(3_000)
    expect(idsTo(live)).toEqual(idsOf(50))
    expect(deliverer.measures()).toMatchObject({ held: 17, failing: 8 })
    expect(deliverer.measures().lagMs).toBeGreaterThanOrEqual(2_900)
  })

  test('F1: idle webhooks at the same position share their reads', async () => {
    const { clock, edge, add, reads } = createWebhookScene()
    for (let index = 0; index < 40; index += 1) await add({ ownerId: `owner-${index}` })
    edge('a').start()
    await clock.pass(5_000)
    const before = reads.count
    await clock.pass(5_000)
    expect(reads.count - before).toBeLessThanOrEqual(51)
  })

  test('W2: the webhook of a revoked client is disabled, and that of a changed client follows the new scope', async () => {
    const { clock, log, edge, add, idsTo, clients, access, store } = createWebhookScene()
    const revoked = await add({ ownerId: 'revoked' })
    const narrowed = await add({ ownerId: 'narrowed' })
    edge('a').start()
    await clock.pass(1_000)
    clients.set('revoked', clientOf('revoked', { revokedAtMs: 5 }))
    clients.set('narrowed', clientOf('narrowed', { accounts: ['bob'] }))
    access.changed.add('revoked').add('narrowed')
    await clock.pass(2_600)
    log.push(eventAt(0, 'alice'), eventAt(1, 'bob'))
    await clock.pass(5_000)
    expect(idsTo(revoked)).toEqual([])
    expect((await store.webhook(revoked))?.webhook.disabled?.reason).toBe('client_revoked')
    expect(idsTo(narrowed)).toEqual(['evt_1'])
  })

  test('W2: a webhook of a client that was revoked or deleted while no edge ran delivers nothing', async () => {
    const { clock, log, edge, add, sent, clients, store } = createWebhookScene()
    log.push(...many(2))
    const [revoked, deleted] = [await add({ ownerId: 'revoked' }), await add({ ownerId: 'deleted' })]
    clients.set('revoked', clientOf('revoked', { revokedAtMs: 5 }))
    clients.delete('deleted')
    edge('a').start()
    await clock.pass(3_000)
    expect(sent).toEqual([])
    for (const id of [revoked, deleted]) {
      expect((await store.webhook(id))?.webhook.disabled?.reason).toBe('client_revoked')
    }
  })

  test('W2: a client that cannot be read pauses its webhooks, and disables none', async () => {
    const { clock, log, edge, add, idsTo, clients, store } = createWebhookScene()
    log.push(...many(2))
    const webhookId = await add({ ownerId: 'damaged' })
    clients.set('damaged', 'unreadable')
    edge('a').start()
    await clock.pass(10_000)
    expect(idsTo(webhookId)).toEqual([])
    clients.set('damaged', clientOf('damaged'))
    await clock.pass(32_000)
    expect(idsTo(webhookId)).toEqual(idsOf(2))
    expect((await store.webhook(webhookId))?.webhook.disabled).toBeNull()
  })

  test('W2: while the rights of clients cannot be read, leases end', async () => {
    const { clock, log, edge, add, sent, access } = createWebhookScene()
    await add()
    edge('a').start()
    await clock.pass(1_000)
    access.failure = new AccessStoreUnavailable('no database')
    await clock.pass(11_000)
    log.push(...many(2))
    await clock.pass(5_000)
    expect(sent).toEqual([])
  })

  test('W2: while the rights cannot be read, a busy webhook stops, too', async () => {
    const { clock, log, edge, add, sent, access, receivers } = createWebhookScene()
    log.push(...many(1_000))
    const webhookId = await add()
    receivers.set(`https://${webhookId}.example/`, async () => {
      await new Promise<void>((resolve) => clock.after(200, resolve))
      return ACCEPTED
    })
    edge('a').start()
    await clock.pass(2_000)
    access.failure = new AccessStoreUnavailable('no database')
    await clock.pass(12_000)
    const before = sent.length
    await clock.pass(60_000)
    expect([before > 5, sent.length]).toEqual([true, before])
  })

  test('W2: rights count from the request for them, however late its reply', async () => {
    const { clock, log, edge, add, sent, access } = createWebhookScene()
    await add()
    edge('a').start()
    await clock.pass(2_000)
    access.takesMs = 8_000
    await clock.pass(500 + access.takesMs)
    access.failure = new AccessStoreUnavailable('no database')
    await clock.pass(1_800)
    log.push(eventAt(0))
    await clock.pass(199)
    expect(sent).toHaveLength(1)
    log.push(eventAt(1))
    await clock.pass(10_000)
    expect(sent).toHaveLength(1)
  })

  test('a change through the API reaches the edge that delivers', async () => {
    const { clock, log, edge, add, sent, store, idsTo } = createWebhookScene()
    const webhookId = await add()
    edge('a').start()
    await clock.pass(1_000)
    await store.change(webhookId, ({ webhook }) => ({
      webhook: { ...webhook, secrets: { current: 'whsec_new', previous: [] } },
    }))
    await clock.pass(4_000)
    log.push(eventAt(0))
    await clock.pass(1_000)
    expect(sent.map(({ target }) => target.secrets)).toEqual([['whsec_new']])
    await store.remove(webhookId)
    await clock.pass(4_000)
    log.push(eventAt(1))
    await clock.pass(4_000)
    expect(idsTo(webhookId)).toEqual(['evt_0'])
  })
})
