/**
 * Webhooks and deliveries at rest, sealed under the ledger's data key.
 *   D1. The sealed text decides: the text of another webhook, or of the other status, does not open, and columns that differ
 *       from it make the row unreadable. A writer of rows without the key cannot redirect events. It can put back an older
 *       row of the same webhook, and move its position.
 */
import * as v from 'valibot'
import {
  ATTEMPT_ERRORS,
  type Delivery,
  DISABLE_REASONS,
  KEPT_DELIVERIES,
  type StoredWebhook,
  type Webhook,
  type WebhookProgress,
} from '../../../runtime/ports/webhook-store.ts'
import { LEDGER_KEY_NAME } from '../../vault/key-name.ts'
import { openJson } from '../../vault/open-json.ts'
import { type Place, placeOf } from '../../vault/place.ts'
import type { RowVault } from '../../vault/row-vault.ts'
import { UnreadableRow } from '../../vault/unreadable-row.ts'

export interface WebhookRow {
  readonly webhook_id: string
  readonly owner_id: string
  readonly status: string
  readonly position: string
  readonly delivered: string
  readonly failures: number
  readonly failing_since: Date | null
  readonly next_attempt_at: Date
  readonly lease: string
  readonly document: Buffer
}

/** Names of the columns, without user input in them. */
export const WEBHOOK_COLUMNS = [
  'webhook_id',
  'owner_id',
  'status',
  'position',
  'delivered',
  'failures',
  'failing_since',
  'next_attempt_at',
  'lease',
  'document',
] as const satisfies readonly (keyof WebhookRow)[]

const FORMAT = 1

const documentSchema = v.object({
  format: v.literal(FORMAT),
  webhookId: v.string(),
  ownerId: v.string(),
  url: v.string(),
  types: v.array(v.string()),
  accountId: v.nullable(v.string()),
  description: v.nullable(v.string()),
  secrets: v.object({
    current: v.string(),
    previous: v.array(v.object({ secret: v.string(), untilMs: v.number() })),
  }),
  createdAtMs: v.number(),
  disabled: v.nullable(v.object({ atMs: v.number(), reason: v.picklist(DISABLE_REASONS) })),
})

const deliverySchema = v.object({
  number: v.number(),
  eventId: v.string(),
  eventType: v.string(),
  status: v.picklist(['delivered', 'failing']),
  attempts: v.number(),
  atMs: v.number(),
  attempt: v.object({
    httpStatus: v.nullable(v.number()),
    error: v.nullable(v.picklist(ATTEMPT_ERRORS)),
    latencyMs: v.number(),
  }),
})

export function statusOf({ disabled }: Webhook): 'active' | 'disabled' {
  return disabled === null ? 'active' : 'disabled'
}

/** As hexadecimal digits. */
export function sealedWebhook(webhook: Webhook, vault: RowVault): string {
  const place = placeOfWebhook(webhook.webhookId, statusOf(webhook))
  return vault.seal(LEDGER_KEY_NAME, place, JSON.stringify({ format: FORMAT, ...webhook }))
}

/** Throws UnreadableRow. */
export function openWebhook(row: WebhookRow, vault: RowVault): StoredWebhook {
  const place = placeOfWebhook(row.webhook_id, row.status)
  const read = v.safeParse(documentSchema, openJson<unknown>(vault, LEDGER_KEY_NAME, place, row.document))
  if (!read.success) throw new UnreadableRow(place, 'its document has an unknown shape')
  const { format: _, ...webhook } = read.output
  if (webhook.ownerId !== row.owner_id || statusOf(webhook) !== row.status) {
    throw new UnreadableRow(place, 'its columns do not say what was sealed')
  }
  return { webhook, progress: progressOf(row) }
}

function progressOf(row: WebhookRow): WebhookProgress {
  return {
    position: row.position,
    delivered: Number(row.delivered),
    failures: row.failures,
    failingSinceMs: row.failing_since?.getTime() ?? null,
    nextAttemptAtMs: row.next_attempt_at.getTime(),
  }
}

/** As hexadecimal digits. */
export function sealedDelivery(webhookId: string, delivery: Delivery, vault: RowVault): string {
  return vault.seal(LEDGER_KEY_NAME, placeOfDelivery(webhookId, delivery.number), JSON.stringify(delivery))
}

/** Throws UnreadableRow. */
export function openDelivery(
  webhookId: string,
  row: { readonly number: string; readonly document: Buffer },
  vault: RowVault,
): Delivery {
  const place = placeOfDelivery(webhookId, Number(row.number))
  const read = v.safeParse(deliverySchema, openJson<unknown>(vault, LEDGER_KEY_NAME, place, row.document))
  if (!read.success) throw new UnreadableRow(place, 'its document has an unknown shape')
  return read.output
}

export function slotOf({ number }: Delivery): number {
  return number % KEPT_DELIVERIES
}

function placeOfWebhook(webhookId: string, status: string): Place {
  return placeOf('webhooks', webhookId, status)
}

function placeOfDelivery(webhookId: string, number: number): Place {
  return placeOf('webhook_deliveries', webhookId, number)
}
