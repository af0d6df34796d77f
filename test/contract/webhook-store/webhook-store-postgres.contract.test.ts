/** The webhook store in PostgreSQL: the contract, and what its rows show. */
import postgres from 'postgres'
import { describe, expect, test } from 'vitest'
import { createWebhookStore, type PostgresWebhookStore } from '../../../infra/postgres/access/webhook-store-postgres.ts'
import { WebhookStoreUnavailable } from '../../../runtime/ports/webhook-store.ts'
import { createLedgerDatabase, vaultOf } from '../../support/postgres/ledger-database.ts'
import { webhookStoreContract } from './webhook-store.contract.ts'
import { aDelivery, aWebhook, type WebhookStoreSubject } from './webhook-store-scene.ts'

interface Postgres extends WebhookStoreSubject {
  readonly store: PostgresWebhookStore
  readonly sql: postgres.Sql
  /** IDs of webhooks that could not be read. */
  readonly unreadable: string[]
}

async function createSubject(): Promise<Postgres> {
  const database = await createLedgerDatabase()
  const { url } = database
  const unreadable: string[] = []
  const store = createWebhookStore({ url, vault: await vaultOf(url), onUnreadable: (id) => unreadable.push(id) })
  const other = createWebhookStore({ url, vault: await vaultOf(url) })
  const sql = postgres(url, { max: 2, onnotice: () => undefined })
  return {
    store,
    other,
    sql,
    unreadable,
    expireLease: async (webhookId) => {
      await sql`UPDATE webhooks SET leased_until = now() WHERE webhook_id = ${webhookId}`
    },
    close: async () => {
      await Promise.all([store.close(), other.close(), sql.end()])
      await database.drop()
    },
  }
}

webhookStoreContract('PostgreSQL', createSubject)

describe('WebhookStore: PostgreSQL', () => {
  test('B9: a row that was redirected, enabled or given to another client is not delivered, and affects no other', async () => {
    const { store, sql, unreadable, close } = await createSubject()
    const [moved, enabled, given, whole] = [aWebhook(), aWebhook(), aWebhook(), aWebhook()]
    for (const one of [moved, enabled, given, whole]) await store.create(one, 'start')
    await store.change(enabled.webhookId, ({ webhook }) => ({
      webhook: { ...webhook, disabled: { atMs: 1, reason: 'client_revoked' } },
    }))
    await sql`UPDATE webhooks SET status = 'active' WHERE webhook_id = ${enabled.webhookId}`
    await sql`UPDATE webhooks SET owner_id = 'thief' WHERE webhook_id = ${given.webhookId}`
    await sql`
      UPDATE webhooks SET document = (SELECT document FROM webhooks WHERE webhook_id = ${whole.webhookId})
      WHERE webhook_id = ${moved.webhookId}`
    expect((await store.claim('edge', 10)).map(({ webhook }) => webhook)).toEqual([whole])
    expect((await store.webhooks(null)).map(({ webhook }) => webhook)).toEqual([whole])
    expect([...new Set(unreadable)].sort()).toEqual([moved, enabled, given].map(({ webhookId }) => webhookId).sort())
    for (const { webhookId } of [moved, enabled, given]) {
      await expect(store.webhook(webhookId)).rejects.toThrow(WebhookStoreUnavailable)
    }
    await close()
  })

  test('B2: after a restore that lost a claim, its lease changes nothing, although claims were as many again', async () => {
    const { store, sql, close } = await createSubject()
    await store.create(aWebhook(), 'start')
    const [before] = await store.claim('edge', 1)
    await sql`UPDATE webhooks SET lease = 0, holder = NULL, leased_until = NULL`
    const [after] = await store.claim('edge', 1)
    if (before === undefined || after === undefined) throw new Error('nothing was claimed')
    const progress = { ...before.progress, position: 'of the lost database' }
    expect(await store.save(before.lease, { progress, deliveries: [] })).toBe(false)
    expect(await store.renew([before.lease, after.lease])).toEqual([after.lease])
    expect((await store.webhook(after.lease.webhookId))?.progress).toEqual(before.progress)
    await close()
  })

  test('B9: unreadable rows take no later claim, and unreadable deliveries are left out', async () => {
    const { store, sql, expireLease, close } = await createSubject()
    const damaged = [aWebhook(), aWebhook(), aWebhook()]
    const whole = aWebhook()
    for (const one of [...damaged, whole]) await store.create(one, 'start')
    for (const { webhookId } of damaged) {
      await sql`UPDATE webhooks SET owner_id = 'thief' WHERE webhook_id = ${webhookId}`
    }
    expect(await store.claim('edge', damaged.length)).toEqual([])
    for (const { webhookId } of damaged) await expireLease(webhookId)
    const [leased] = await store.claim('edge', damaged.length)
    if (leased === undefined) throw new Error('nothing was claimed')
    expect(leased.webhook).toEqual(whole)
    const deliveries = [aDelivery(0), aDelivery(1)]
    await store.save(leased.lease, { progress: leased.progress, deliveries })
    await sql`UPDATE webhook_deliveries SET number = 100 WHERE number = 0`
    expect(await store.deliveries(whole.webhookId)).toEqual([aDelivery(1)])
    await close()
  })

  test('no URL, secret, account or description of a webhook, and no event of a delivery, is readable', async () => {
    const { store, sql, close } = await createSubject()
    const webhook = aWebhook({ accountId: 'needle-account' })
    await store.create(webhook, 'start')
    const [leased] = await store.claim('edge', 1)
    if (leased === undefined) throw new Error('nothing was claimed')
    await store.save(leased.lease, {
      progress: leased.progress,
      deliveries: [aDelivery(0, { eventId: 'needle-event' })],
    })
    const dump = await sql<{ text: string }[]>`
      SELECT encode(document, 'escape') || w::text AS text FROM webhooks w
      UNION ALL SELECT encode(document, 'escape') || d::text FROM webhook_deliveries d`
    expect(dump).toHaveLength(2)
    const text = dump.map((row) => row.text).join('\n')
    for (const needle of ['receiver.example', 'whsec_', 'needle-account', 'for the books', 'needle-event']) {
      expect(text).not.toContain(needle)
    }
    await close()
  })

  test('without a database every call fails with the error of the port', async () => {
    const { store, close } = await createSubject()
    await close()
    await expect(store.webhooks(null)).rejects.toThrow(WebhookStoreUnavailable)
    await expect(store.claim('edge', 1)).rejects.toThrow(WebhookStoreUnavailable)
  })
})
