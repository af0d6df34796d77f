/** Deliveries of webhooks on virtual time: a log of events and receivers in memory. */
import type { LedgerEvent, EventPage } from '../../../../runtime/ports/ledger-events.ts'
import { EventPositionForeign } from '../../../../runtime/ports/ledger-events.ts'
import type { LogFields } from '../../../../runtime/ports/log.ts'
import type { WebhookMessage, WebhookTarget } from '../../../../runtime/ports/webhook-sender.ts'
import type { AttemptResult, Webhook, WebhookStore } from '../../../../runtime/ports/webhook-store.ts'
import { delay } from '../../../../runtime/ports/clock.ts'
import type { Tracing } from '../../../../runtime/ports/tracing.ts'
import { createEventFeed } from '../../../../runtime/webhooks/event-feed.ts'
import { WebhookDeliverer } from '../../../../runtime/webhooks/webhook-deliverer.ts'
import { createWebhookOwners } from '../../../../runtime/webhooks/webhook-owners.ts'
import type { AccessStore, ClientRecord } from '../../../../runtime/ports/access-store.ts'
import { createManualClock } from '../../../support/manual-clock.ts'
import { createMemoryWebhookState, createMemoryWebhookStore } from '../../../support/memory/webhook-store-memory.ts'

export const START_MS = 1_760_000_000_000
export const DAY_MS = 86_400_000
export const ACCEPTED: AttemptResult = { httpStatus: 204, error: null, latencyMs: 3 }
export const BROKEN: AttemptResult = { httpStatus: 500, error: 'status', latencyMs: 4 }

export interface SentMessage {
  readonly atMs: number
  readonly edge: string
  readonly target: WebhookTarget
  readonly message: WebhookMessage
}

/** Replies to a message; left pending, the message stays in flight. */
export type Receiver = (message: WebhookMessage, sent: number) => AttemptResult | Promise<AttemptResult>

export function eventAt(index: number, accountId = 'alice'): LedgerEvent {
  return {
    id: `evt_${index}`,
    name: 'account.registered',
    subject: accountId,
    timeMs: START_MS + index,
    accountIds: [accountId],
    tokenIds: [],
    content: {
      kind: 'entry',
      accountId,
      entry: { sequence: index, previousHash: '', auditHash: '', payload: null },
    },
    position: String(index + 1),
  }
}

export function clientOf(clientId: string, overrides: Partial<ClientRecord> = {}): ClientRecord {
  const rights = { role: 'admin', boundary: false, accounts: null, rate: null } as const
  return { clientId, secretHash: '', publicKey: null, ...rights, createdAtMs: 0, revokedAtMs: null, ...overrides }
}

export function createWebhookScene(tracing?: Tracing) {
  const clock = createManualClock(START_MS)
  const log: LedgerEvent[] = []
  const receivers = new Map<string, Receiver>()
  const sent: SentMessage[] = []
  /** IDs of events in the order in which their messages were made. */
  const shown: string[] = []
  /** Events of which no message can be made. */
  const failing = new Set<string>()
  const forgotten: string[] = []
  const lines: { readonly event: string; readonly fields: LogFields }[] = []
  const state = createMemoryWebhookState()
  const store = createMemoryWebhookStore(state, clock)
  const clients = new Map<string, ClientRecord | 'unreadable'>()
  const reads = { count: 0, events: 0, failure: null as Error | null, limit: 100, takesMs: 0 }
  /** `takesMs`: of a reply, which has the changes before the request. */
  const access = { changed: new Set<string>(), failure: null as Error | null, takesMs: 0 }

  const events = {
    async read(after: string | null, limit: number): Promise<EventPage> {
      reads.count += 1
      if (reads.failure !== null) throw reads.failure
      if (reads.takesMs > 0) await delay(clock, reads.takesMs)
      if (after === 'foreign') throw new EventPositionForeign('of another database')
      const from = Number(after)
      const page = log.slice(from, from + Math.min(limit, reads.limit))
      reads.events += page.length
      return { events: page, next: String(from + page.length), atEnd: from + page.length === log.length }
    },
  }
  const accessStore: Pick<AccessStore, 'changesSince' | 'findAccess'> = {
    async changesSince(mark) {
      if (access.failure !== null) throw access.failure
      const clientsChanged = new Set(access.changed)
      access.changed.clear()
      if (access.takesMs > 0) await delay(clock, access.takesMs)
      return { mark: 'mark', changed: mark === null ? null : { clients: clientsChanged, sessions: new Set() } }
    },
    findAccess: async (clientId) => ({ client: clients.get(clientId), sessionLive: false }),
  }
  const write = (event: string, fields: LogFields = {}): void => void lines.push({ event, fields })

  /** An edge that delivers; `random`: the share of the random part of each delay. */
  function edge(name: string, random = () => 0, own: WebhookStore = store): WebhookDeliverer {
    return new WebhookDeliverer({
      store: own,
      feed: createEventFeed(events, clock),
      sender: {
        mayConnect: () => true,
        async send(target, message, onWritten) {
          const index = sent.length
          sent.push({ atMs: clock.now(), edge: name, target, message })
          // An error of a callback has no catcher.
          if (onWritten !== undefined) queueMicrotask(onWritten)
          return (receivers.get(target.url) ?? (() => ACCEPTED))(message, index)
        },
        forget: (connection) => void forgotten.push(connection),
      },
      show: (event) => {
        if (failing.has(event.id)) throw new TypeError('the event cannot be shown')
        shown.push(event.id)
        return { type: `ledger.${event.name}.v1`, body: JSON.stringify({ id: event.id }) }
      },
      clock,
      random: { hex: () => '', integer: (below) => Math.min(below - 1, Math.floor(random() * below)) },
      log: { info: write, warn: write, error: write },
      tracing,
      owners: createWebhookOwners(accessStore),
      filterOf: (webhook, scope) => (event) =>
        event.accountIds.some((id) => scope.includes(id) && (webhook.accountId === null || id === webhook.accountId)),
      holder: name,
    })
  }

  async function add(overrides: Partial<Webhook> = {}, position = '0'): Promise<string> {
    const webhookId = overrides.webhookId ?? `whk_${state.webhooks.size}`
    const url = `https://${webhookId}.example/`
    const ownerId = overrides.ownerId ?? 'owner'
    if (!clients.has(ownerId)) clients.set(ownerId, clientOf(ownerId))
    const filter = { types: [], accountId: null, description: null, disabled: null }
    const secrets = { current: 'whsec_a', previous: [] }
    const made = { webhookId, url, ownerId, ...filter, secrets, createdAtMs: START_MS, ...overrides }
    await store.create(made, position)
    return webhookId
  }

  const idsTo = (webhookId: string): readonly string[] =>
    sent.filter(({ target }) => target.url === `https://${webhookId}.example/`).map(({ message }) => message.id)
  const progressOf = async (webhookId: string) => (await store.webhook(webhookId))?.progress
  return {
    clock,
    log,
    receivers,
    sent,
    shown,
    failing,
    forgotten,
    lines,
    state,
    store,
    clients,
    reads,
    access,
    edge,
    add,
    idsTo,
    progressOf,
  }
}
