/**
 * Webhooks in PostgreSQL. Invariants B1 to B7 of the port, and:
 *   B8. Leases are compared and prolonged inside the statement, by the database's clock: no clock of an edge decides.
 *   B9. The sealed text decides (webhook-document.ts). A row that does not open is neither listed nor delivered, and affects
 *       no other webhook.
 */
import type postgres from 'postgres'
import { isoTimestamp } from '../../../actors/timestamp.ts'
import {
  KEPT_DELIVERIES,
  type Lease,
  LEASE_MS,
  type LeasedWebhook,
  MAX_WEBHOOKS,
  MAX_WEBHOOKS_OF_CLIENT,
  type SavedProgress,
  type StoredWebhook,
  type Webhook,
  type WebhookChange,
  type WebhookCreation,
  type WebhookStore,
  WebhookStoreUnavailable,
} from '../../../runtime/ports/webhook-store.ts'
import { LEDGER_KEY_NAME } from '../../vault/key-name.ts'
import type { RowVault } from '../../vault/row-vault.ts'
import { UnreadableRow } from '../../vault/unreadable-row.ts'
import { column } from '../connection/array-literal.ts'
import { createQueryPool } from '../connection/query-pool.ts'
import {
  openDelivery,
  openWebhook,
  sealedDelivery,
  sealedWebhook,
  slotOf,
  statusOf,
  WEBHOOK_COLUMNS,
  type WebhookRow,
} from '../rows/webhook-document.ts'

export interface PostgresWebhookStore extends WebhookStore {
  readonly close: () => Promise<void>
}

export interface WebhookStoreOptions {
  readonly url: string
  readonly vault: RowVault
  /** Called with the ID of a webhook whose row cannot be read, each time that it is to be listed or delivered. */
  readonly onUnreadable?: (webhookId: string) => void
  readonly poolSize?: number
}

const UNREADABLE_DELAY_MS = 600_000
/** Attempts at a change while others change the row. */
const CHANGE_TRIES = 10
/** Serializes creations, which are counted (B6): any number that no other advisory lock of the ledger has. */
const CREATION_LOCK = 0x77_68_6b

export function createWebhookStore({
  url,
  vault,
  onUnreadable,
  poolSize = 4,
}: WebhookStoreOptions): PostgresWebhookStore {
  const pool = createQueryPool({
    url,
    name: 'ledger webhooks',
    size: poolSize,
    unavailable: (message, cause) => new WebhookStoreUnavailable(message, cause),
  })
  const run = <T>(work: (database: Database) => Promise<T>): Promise<T> =>
    pool.run(async (sql) => {
      await vault.keys.fetch(sql, [LEDGER_KEY_NAME])
      return work({ sql, vault })
    })
  return {
    create: (webhook, position, key) => run((database) => create(database, webhook, position, key)),
    webhook: (webhookId) => run((database) => find(database, webhookId)),
    webhooks: (ownerId) =>
      run(async ({ sql }) => {
        const rows = await sql<WebhookRow[]>`
          SELECT ${sql(WEBHOOK_COLUMNS)} FROM webhooks
          WHERE ${ownerId}::text IS NULL OR owner_id = ${ownerId} ORDER BY webhook_id`
        return rows.flatMap((row) =>
          readable(
            () => openWebhook(row, vault),
            () => onUnreadable?.(row.webhook_id),
          ),
        )
      }),
    change: (webhookId, change) => run((database) => changeOne(database, webhookId, change)),
    remove: (webhookId) =>
      run(async ({ sql }) => {
        if (webhookId.includes('\0')) return false
        const { count } = await sql`DELETE FROM webhooks WHERE webhook_id = ${webhookId}`
        return count > 0
      }),
    deliveries: (webhookId) =>
      run(async ({ sql }) => {
        const rows = await sql<{ readonly number: string; readonly document: Buffer }[]>`
          SELECT number, document FROM webhook_deliveries WHERE webhook_id = ${webhookId} ORDER BY number DESC`
        return rows.flatMap((row) =>
          readable(
            () => openDelivery(webhookId, row, vault),
            () => onUnreadable?.(webhookId),
          ),
        )
      }),
    claim: (holder, limit) => run((database) => claimReadable(database, holder, limit, onUnreadable)),
    renew: (leases) => run(({ sql }) => renew(sql, leases)),
    save: (lease, saved) => run((database) => save(database, lease, saved)),
    close: pool.close,
  }
}

interface Database {
  readonly sql: postgres.Sql
  readonly vault: RowVault
}

async function create(
  { sql, vault }: Database,
  webhook: Webhook,
  position: string,
  key: string | null = null,
): Promise<WebhookCreation> {
  const { webhookId, ownerId, createdAtMs } = webhook
  const creationRef = key === null ? null : vault.keyRef('\u00a7webhook', JSON.stringify([ownerId, key]))
  return await sql.begin(async (transaction) => {
    await transaction`SELECT pg_advisory_xact_lock(${CREATION_LOCK})`
    const [earlier] = await transaction<WebhookRow[]>`
      SELECT ${sql(WEBHOOK_COLUMNS)} FROM webhooks WHERE creation_ref = ${creationRef}`
    if (earlier !== undefined) return openWebhook(earlier, vault)
    const [counts] = await transaction<{ readonly all: number; readonly own: number }[]>`
      SELECT count(*)::int AS all, count(*) FILTER (WHERE owner_id = ${ownerId})::int AS own FROM webhooks`
    if ((counts?.own ?? 0) >= MAX_WEBHOOKS_OF_CLIENT) return 'too_many_of_client'
    if ((counts?.all ?? 0) >= MAX_WEBHOOKS) return 'too_many'
    const [row] = await transaction<WebhookRow[]>`
      INSERT INTO webhooks (webhook_id, owner_id, status, position, next_attempt_at, creation_ref, document)
      VALUES (${webhookId}, ${ownerId}, ${statusOf(webhook)}, ${position}, ${isoTimestamp(createdAtMs)}, ${creationRef},
              decode(${sealedWebhook(webhook, vault)}, 'hex'))
      RETURNING ${sql(WEBHOOK_COLUMNS)}`
    if (row === undefined) throw new Error('An INSERT returned no row.')
    return openWebhook(row, vault)
  })
}

async function findRow(sql: postgres.Sql, webhookId: string): Promise<WebhookRow | undefined> {
  if (webhookId.includes('\0')) return undefined
  const [row] = await sql<WebhookRow[]>`SELECT ${sql(WEBHOOK_COLUMNS)} FROM webhooks WHERE webhook_id = ${webhookId}`
  return row
}

async function find({ sql, vault }: Database, webhookId: string): Promise<StoredWebhook | undefined> {
  const row = await findRow(sql, webhookId)
  return row && openWebhook(row, vault)
}

/** Applies only to the row that `change` saw: a new seal is never equal to an earlier one. A `save` under the lease may win. */
async function changeOne(
  { sql, vault }: Database,
  webhookId: string,
  change: WebhookChange,
): Promise<StoredWebhook | undefined> {
  for (let tries = 0; tries < CHANGE_TRIES; tries += 1) {
    const row = await findRow(sql, webhookId)
    if (row === undefined) return undefined
    const stored = openWebhook(row, vault)
    const { webhook, progress = stored.progress } = change(stored)
    const { count } = await sql`
      UPDATE webhooks
      SET status = ${statusOf(webhook)}, document = decode(${sealedWebhook(webhook, vault)}, 'hex'),
          position = ${progress.position}, failures = ${progress.failures}, failing_since = ${timeOf(progress.failingSinceMs)},
          next_attempt_at = ${isoTimestamp(progress.nextAttemptAtMs)},
          lease = lease + 1, holder = NULL, leased_until = NULL
      WHERE webhook_id = ${webhookId} AND document = ${row.document} AND lease = ${row.lease}
        AND position = ${row.position} AND delivered = ${row.delivered} AND failures = ${row.failures}`
    if (count > 0) return { webhook, progress }
  }
  throw new WebhookStoreUnavailable('The webhook changed each time that it was looked at.')
}

/** B2. Small enough that the numbers of billions of claims are exact in JavaScript. */
const LARGEST_STEP = 2 ** 20

async function claim(sql: postgres.Sql, holder: string, limit: number): Promise<readonly WebhookRow[]> {
  return await sql<WebhookRow[]>`
    UPDATE webhooks
    SET holder = ${holder}, lease = lease + 1 + floor(random() * ${LARGEST_STEP})::bigint,
        leased_until = now() + ${LEASE_MS} * interval '1 millisecond'
    WHERE webhook_id IN (
      SELECT webhook_id FROM webhooks
      WHERE status = 'active' AND next_attempt_at <= now() AND (leased_until IS NULL OR leased_until <= now())
      ORDER BY next_attempt_at LIMIT ${limit} FOR UPDATE SKIP LOCKED
    )
    RETURNING ${sql(WEBHOOK_COLUMNS)}`
}

async function claimReadable(
  { sql, vault }: Database,
  holder: string,
  limit: number,
  onUnreadable: WebhookStoreOptions['onUnreadable'],
): Promise<readonly LeasedWebhook[]> {
  const unreadable: string[] = []
  const claimed = (await claim(sql, holder, limit)).flatMap((row) => {
    const { webhook_id: webhookId, lease } = row
    const stored = readable(
      () => openWebhook(row, vault),
      () => unreadable.push(webhookId),
    )
    return stored.map((one) => ({ ...one, lease: { webhookId, number: Number(lease) } }))
  })
  for (const webhookId of unreadable) onUnreadable?.(webhookId)
  if (unreadable.length > 0) await postpone(sql, unreadable)
  return claimed
}

/** Due later, so that claims find those that can be read: those of a damaged table could take every claim. */
async function postpone(sql: postgres.Sql, webhookIds: readonly string[]): Promise<void> {
  await sql`
    UPDATE webhooks SET next_attempt_at = now() + ${UNREADABLE_DELAY_MS} * interval '1 millisecond'
    WHERE webhook_id = ANY (${column('text', webhookIds, (webhookId) => webhookId)}::text[])`
}

/** Empty if the row does not open. */
function readable<T>(open: () => T, onUnreadable: () => void): readonly T[] {
  try {
    return [open()]
  } catch (error) {
    if (!(error instanceof UnreadableRow)) throw error
    onUnreadable()
    return []
  }
}

async function renew(sql: postgres.Sql, leases: readonly Lease[]): Promise<readonly Lease[]> {
  const rows = await sql<{ readonly webhook_id: string; readonly lease: string }[]>`
    UPDATE webhooks w SET leased_until = now() + ${LEASE_MS} * interval '1 millisecond'
    FROM unnest(${column('text', leases, ({ webhookId }) => webhookId)}::text[], ${column('bigint', leases, (one) => one.number)}::bigint[])
      AS held (webhook_id, lease)
    WHERE w.webhook_id = held.webhook_id AND w.lease = held.lease AND w.leased_until IS NOT NULL
    RETURNING w.webhook_id, w.lease`
  return rows.map((row) => ({ webhookId: row.webhook_id, number: Number(row.lease) }))
}

/** B2: the deliveries depend on the update, in one statement. */
async function save(
  { sql, vault }: Database,
  { webhookId, number }: Lease,
  { progress, deliveries, webhook, release = false }: SavedProgress,
): Promise<boolean> {
  const kept = deliveries.slice(-KEPT_DELIVERIES)
  const document = webhook === undefined ? null : sealedWebhook(webhook, vault)
  const [row] = await sql<{ readonly saved: boolean }[]>`
    WITH held AS (
      UPDATE webhooks
      SET position = ${progress.position}, delivered = ${progress.delivered}, failures = ${progress.failures},
          failing_since = ${timeOf(progress.failingSinceMs)}, next_attempt_at = ${isoTimestamp(progress.nextAttemptAtMs)},
          status = coalesce(${webhook === undefined ? null : statusOf(webhook)}, status),
          document = coalesce(decode(${document}, 'hex'), document),
          leased_until = CASE WHEN ${release} THEN NULL ELSE now() + ${LEASE_MS} * interval '1 millisecond' END,
          holder = CASE WHEN ${release} THEN NULL ELSE holder END
      WHERE webhook_id = ${webhookId} AND lease = ${number} AND leased_until IS NOT NULL
      RETURNING webhook_id
    ), added AS (
      INSERT INTO webhook_deliveries AS kept (webhook_id, slot, number, document)
      SELECT held.webhook_id, made.slot, made.number, made.document
      FROM held, unnest(${column('integer', kept, slotOf)}::int[], ${column('bigint', kept, (one) => one.number)}::bigint[],
                        ${column('bytea', kept, (one) => sealedDelivery(webhookId, one, vault))}::bytea[])
        AS made (slot, number, document)
      ON CONFLICT (webhook_id, slot) DO UPDATE SET number = excluded.number, document = excluded.document
    )
    SELECT EXISTS (SELECT FROM held) AS saved`
  return row?.saved === true
}

function timeOf(atMs: number | null): string | null {
  return atMs === null ? null : isoTimestamp(atMs)
}
