/** The contract of every WebhookStore: B1 to B7 of the port. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import {
  KEPT_DELIVERIES,
  type Lease,
  type LeasedWebhook,
  MAX_WEBHOOKS,
  MAX_WEBHOOKS_OF_CLIENT,
  type WebhookProgress,
  type WebhookStore,
} from '../../../runtime/ports/webhook-store.ts'
import { aDelivery, aWebhook, type WebhookStoreSubject } from './webhook-store-scene.ts'

const START: WebhookProgress = {
  position: 'start',
  delivered: 0,
  failures: 0,
  failingSinceMs: null,
  nextAttemptAtMs: 0,
}

export function webhookStoreContract(name: string, create: () => Promise<WebhookStoreSubject>): void {
  describe(`WebhookStore: ${name}`, () => {
    let subject: WebhookStoreSubject
    beforeEach(async () => {
      subject = await create()
    })
    afterEach(() => subject.close())

    recordTests(() => subject)
    leaseTests(() => subject)
    deliveryTests(() => subject)
  })
}

async function claimed(store: WebhookStore, holder = 'edge'): Promise<LeasedWebhook> {
  const [leased] = await store.claim(holder, 1)
  if (leased === undefined) throw new Error('nothing was claimed')
  return leased
}

function recordTests(subject: () => WebhookStoreSubject): void {
  test('B1: a webhook is found as it was created and changed, through every store', async () => {
    const { store, other } = subject()
    const webhook = aWebhook()
    const progress = { ...START, nextAttemptAtMs: webhook.createdAtMs }
    expect(await store.create(webhook, 'start')).toEqual({ webhook, progress })
    expect(await other.webhook(webhook.webhookId)).toEqual({ webhook, progress })
    const previous = [{ secret: webhook.secrets.current, untilMs: 5 }]
    const changed = {
      webhook: {
        ...webhook,
        accountId: null,
        description: null,
        types: [],
        secrets: { current: 'whsec_NQ==', previous },
        disabled: { atMs: 7, reason: 'delivery_failed' as const },
      },
      progress: { position: 'p', delivered: 0, failures: 3, failingSinceMs: 5_000, nextAttemptAtMs: 6_000 },
    }
    expect(await other.change(webhook.webhookId, () => changed)).toEqual(changed)
    expect(await store.webhook(webhook.webhookId)).toEqual(changed)
  })

  test('no unknown ID is found', async () => {
    const { store } = subject()
    for (const id of ['', 'whk_', 'x\0', "' OR true --"]) {
      expect(await store.webhook(id)).toBeUndefined()
      expect(await store.change(id, (stored) => stored)).toBeUndefined()
      expect(await store.remove(id)).toBe(false)
    }
  })

  test('a list has the webhooks of a client or of all, in order of their IDs, without removed ones', async () => {
    const { store } = subject()
    const all = [aWebhook({ ownerId: 'a' }), aWebhook({ ownerId: 'b' }), aWebhook({ ownerId: 'a' })]
    for (const one of all.toReversed()) await store.create(one, 'start')
    const idsOf = async (ownerId: string | null) =>
      (await store.webhooks(ownerId)).map(({ webhook }) => webhook.webhookId)
    const [first, second, third] = all.map(({ webhookId }) => webhookId)
    expect(await idsOf(null)).toEqual([first, second, third])
    expect(await idsOf('a')).toEqual([first, third])
    expect(await idsOf('c')).toEqual([])
    expect(await store.remove(first ?? '')).toBe(true)
    expect(await store.remove(first ?? '')).toBe(false)
    expect(await idsOf('a')).toEqual([third])
  })

  test('B6: the webhooks of a client are bounded, also for concurrent creations', async () => {
    const { store, other } = subject()
    const outcomes = await Promise.all(
      Array.from({ length: MAX_WEBHOOKS_OF_CLIENT + 3 }, (_, index) =>
        (index % 2 === 0 ? store : other).create(aWebhook({ ownerId: 'a' }), 'start'),
      ),
    )
    expect(outcomes.filter((one) => typeof one === 'object')).toHaveLength(MAX_WEBHOOKS_OF_CLIENT)
    expect(outcomes.filter((one) => one === 'too_many_of_client')).toHaveLength(3)
    expect(await store.create(aWebhook({ ownerId: 'b' }), 'start')).toHaveProperty('webhook.ownerId', 'b')
  })

  test('B7: creations of a client under one key store one webhook, also concurrent ones', async () => {
    const { store, other } = subject()
    const create = (of: WebhookStore, ownerId: string, key: string | null) =>
      of.create(aWebhook({ ownerId }), 'start', key)
    const [first, second] = await Promise.all([create(store, 'a', 'key'), create(other, 'a', 'key')])
    expect(second).toEqual(first)
    expect(await create(store, 'a', 'key')).toEqual(first)
    for (const [ownerId, key] of [
      ['b', 'key'],
      ['a', 'other'],
      ['a', null],
      ['a', null],
    ] as const) {
      await create(store, ownerId, key)
    }
    expect(await store.webhooks(null)).toHaveLength(5)
  })

  test('B6: the webhooks of all clients are bounded', async () => {
    const { store } = subject()
    for (let index = 0; index < MAX_WEBHOOKS; index += 1) await store.create(aWebhook(), 'start')
    expect(await store.create(aWebhook(), 'start')).toBe('too_many')
  })
}

function leaseTests(subject: () => WebhookStoreSubject): void {
  test('B2: of concurrent claims one gets the webhook, and later ones nothing', async () => {
    const { store, other } = subject()
    const webhook = aWebhook()
    await store.create(webhook, 'start')
    const claims = await Promise.all(
      Array.from({ length: 6 }, (_, index) => (index % 2 === 0 ? store : other).claim(`edge-${index}`, 10)),
    )
    expect(claims.flat().map((one) => one.webhook)).toEqual([webhook])
    expect(await store.claim('late', 10)).toEqual([])
  })

  test('B2: after its lease ended and another edge claimed, a holder changes nothing', async () => {
    const { store, other, expireLease } = subject()
    await store.create(aWebhook(), 'start')
    const paused = await claimed(store)
    const { webhookId } = paused.lease
    await expireLease(webhookId)
    const next = await claimed(other)
    expect(next.lease.number).toBeGreaterThan(paused.lease.number)
    const ahead = { ...START, position: 'ahead', delivered: 9 }
    expect(await store.save(paused.lease, { progress: ahead, deliveries: [aDelivery(8)] })).toBe(false)
    expect(await store.renew([paused.lease])).toEqual([])
    expect((await store.webhook(webhookId))?.progress.position).toBe('start')
    expect(await store.deliveries(webhookId)).toEqual([])
    expect(await other.save(next.lease, { progress: { ...START, position: 'next' }, deliveries: [] })).toBe(true)
    expect(await store.save(paused.lease, { progress: START, deliveries: [] })).toBe(false)
    expect((await store.webhook(webhookId))?.progress.position).toBe('next')
  })

  test('B3: a lease is kept by renewals, and ends at its release', async () => {
    const { store, other, expireLease } = subject()
    await store.create(aWebhook(), 'start')
    const { lease } = await claimed(store)
    const unknown: Lease = { webhookId: 'whk_none', number: 1 }
    await expireLease(lease.webhookId)
    expect(await store.renew([unknown, lease])).toEqual([lease])
    expect(await other.claim('other', 10)).toEqual([])
    await expireLease(lease.webhookId)
    expect(await store.save(lease, { progress: START, deliveries: [] })).toBe(true)
    expect(await other.claim('other', 10)).toEqual([])
    const progress = { position: 'p', delivered: 2, failures: 1, failingSinceMs: 1_000, nextAttemptAtMs: 2_000 }
    expect(await store.save(lease, { progress, deliveries: [], release: true })).toBe(true)
    expect(await store.save(lease, { progress: START, deliveries: [] })).toBe(false)
    const next = await claimed(other)
    expect(next.progress).toEqual(progress)
  })

  test('B4: a change voids the lease, and so does a removal', async () => {
    const { store, other } = subject()
    const webhook = aWebhook()
    await store.create(webhook, 'start')
    const { lease } = await claimed(store)
    await other.change(webhook.webhookId, (stored) => ({ webhook: { ...stored.webhook, url: 'https://new.example/' } }))
    expect(await store.save(lease, { progress: START, deliveries: [] })).toBe(false)
    const next = await claimed(other)
    expect(next.webhook.url).toBe('https://new.example/')
    await store.remove(webhook.webhookId)
    expect(await other.renew([next.lease])).toEqual([])
    expect(await other.save(next.lease, { progress: START, deliveries: [aDelivery(0)] })).toBe(false)
  })

  test('B5: neither a disabled webhook nor one that is not due is claimed', async () => {
    const { store } = subject()
    await store.create(aWebhook(), 'start')
    const { lease, webhook } = await claimed(store)
    const later = { ...START, nextAttemptAtMs: Date.now() + 3_600_000 }
    await store.save(lease, { progress: later, deliveries: [], release: true })
    expect(await store.claim('edge', 10)).toEqual([])
    await store.change(webhook.webhookId, (stored) => ({ ...stored, progress: START }))
    const again = await claimed(store)
    const disabled = { ...webhook, disabled: { atMs: 5, reason: 'client_revoked' as const } }
    await store.save(again.lease, { progress: START, deliveries: [], webhook: disabled, release: true })
    expect(await store.claim('edge', 10)).toEqual([])
    expect((await store.webhook(webhook.webhookId))?.webhook).toEqual(disabled)
  })

  test('the webhooks that have waited longest are claimed first', async () => {
    const { store } = subject()
    const all = [aWebhook(), aWebhook(), aWebhook()]
    for (const one of all.toReversed()) await store.create(one, 'start')
    const first = await store.claim('edge', 2)
    expect(first.map((one) => one.webhook.webhookId).sort()).toEqual(all.slice(0, 2).map((one) => one.webhookId))
  })
}

function deliveryTests(subject: () => WebhookStoreSubject): void {
  test('the last deliveries are kept, newest first; one with an earlier number replaces that delivery', async () => {
    const { store } = subject()
    const { webhookId } = aWebhook()
    await store.create(aWebhook({ webhookId }), 'start')
    const { lease } = await claimed(store)
    const failing = aDelivery(0, {
      status: 'failing',
      attempts: 3,
      attempt: { httpStatus: null, error: 'timeout', latencyMs: 10_000 },
    })
    await store.save(lease, { progress: START, deliveries: [failing] })
    expect(await store.deliveries(webhookId)).toEqual([failing])
    const numbers = Array.from({ length: KEPT_DELIVERIES + 5 }, (_, number) => number)
    await store.save(lease, { progress: START, deliveries: numbers.slice(0, 60).map((number) => aDelivery(number)) })
    await store.save(lease, { progress: START, deliveries: numbers.slice(60).map((number) => aDelivery(number)) })
    const kept = numbers.toReversed().slice(0, KEPT_DELIVERIES)
    expect(await store.deliveries(webhookId)).toEqual(kept.map((number) => aDelivery(number)))
    expect(await store.deliveries('whk_none')).toEqual([])
  })
}
