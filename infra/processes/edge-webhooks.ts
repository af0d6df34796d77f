/** Composition of the webhooks of an edge: their store, their sender, and the deliverer. */
import { selectsEvent } from '../../api/endpoint/event-filter.ts'
import { eventMembers, eventType } from '../../api/views/event-views.ts'
import type { EdgeDependencies } from '../../api/http/dependencies.ts'
import type { AccessStore } from '../../runtime/ports/access-store.ts'
import type { Clock } from '../../runtime/ports/clock.ts'
import type { Log } from '../../runtime/ports/log.ts'
import type { Tracing } from '../../runtime/ports/tracing.ts'
import type { WebhookStore } from '../../runtime/ports/webhook-store.ts'
import type { Random } from '../../runtime/ports/random.ts'
import { createEventFeed } from '../../runtime/webhooks/event-feed.ts'
import { WebhookDeliverer } from '../../runtime/webhooks/webhook-deliverer.ts'
import { createWebhookOwners } from '../../runtime/webhooks/webhook-owners.ts'
import type { Configuration } from '../config/configuration.ts'
import { createWebhookMetrics, registerWebhookGauges } from '../metrics/edge-metrics.ts'
import { createWebhookStore } from '../postgres/access/webhook-store-postgres.ts'
import { createLedgerEvents } from '../postgres/reads/ledger-events-postgres.ts'
import type { RowVault } from '../vault/row-vault.ts'
import { addressRuleOf } from '../webhooks/address-rules.ts'
import { createWebhookSender } from '../webhooks/webhook-sender-http.ts'
import type { ServiceProcess } from './service-process.ts'
import type { Watching } from './watching.ts'

export interface WebhooksContext {
  readonly configuration: Pick<Configuration, 'environment' | 'webhookAllow'>
  readonly url: string
  readonly ledgerId: string
  /** Names this edge in leases. */
  readonly holder: string
  readonly vault: RowVault
  readonly access: AccessStore
  readonly service: ServiceProcess
  readonly watching: Watching
  readonly clock: Clock
  readonly random: Random
  readonly log: Log
  readonly tracing: Tracing | undefined
}

export interface Webhooks extends Pick<EdgeDependencies, 'webhooks' | 'webhookSender'> {
  /** Waits for the messages in flight. May be called before the process stops its parts. */
  readonly stopDeliveries: () => Promise<void>
}

/** `announce`: called after each change through which a webhook has no holder (B4). */
function announcing(store: WebhookStore, announce: () => void): WebhookStore {
  const announced = async <T>(change: Promise<T>): Promise<T> => {
    const changed = await change
    announce()
    return changed
  }
  return {
    ...store,
    create: (...webhook) => announced(store.create(...webhook)),
    change: (...change) => announced(store.change(...change)),
  }
}

/** Starts to deliver. */
export function openWebhooks(context: WebhooksContext): Webhooks {
  const { configuration, url, ledgerId, holder, vault, access, service, clock, random, log, tracing } = context
  // Connections of their own: webhooks hold up no request for events.
  const events = service.keep('webhook events', createLedgerEvents({ url, ledgerId, vault, poolSize: 2 }))
  const onUnreadable = (webhookId: string): void => log.error('webhook_unreadable', { webhook_id: webhookId })
  const webhooks = service.keep('webhooks', createWebhookStore({ url, vault, onUnreadable }))
  const webhookSender = createWebhookSender({ mayConnect: addressRuleOf(configuration), now: clock.now })
  service.onStop('webhook connections', async () => webhookSender.close())
  const { registry } = context.watching
  const deliverer = new WebhookDeliverer({
    store: webhooks,
    feed: createEventFeed(events, clock),
    sender: webhookSender,
    show: (event) => ({ type: eventType(event.name), body: JSON.stringify(eventMembers(event, ledgerId)) }),
    clock,
    random,
    log,
    ...(registry === undefined ? {} : { metrics: createWebhookMetrics(registry) }),
    tracing,
    owners: createWebhookOwners(access),
    filterOf: ({ types, accountId, ownerId: clientId }, scope) =>
      selectsEvent({ types: types.length === 0 ? null : types, accountId, tokenId: null }, { scope, clientId }, events)
        .selects,
    holder,
  })
  if (registry !== undefined) registerWebhookGauges(registry, () => deliverer.measures())
  deliverer.start()
  let stopped: Promise<void> | undefined
  const stopDeliveries = (): Promise<void> => (stopped ??= deliverer.stop())
  service.onStop('webhook deliveries', stopDeliveries)
  return { webhooks: announcing(webhooks, () => deliverer.claimNow()), webhookSender, stopDeliveries }
}
