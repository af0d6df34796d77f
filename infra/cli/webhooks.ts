import { InvalidArgumentError } from 'commander'
import { isoTimestamp } from '../../actors/timestamp.ts'
import { attemptMembers, webhookMembers, webhookTestMessage } from '../../api/views/webhook-views.ts'
import type { EventPosition, LedgerEvents } from '../../runtime/ports/ledger-events.ts'
import type { StoredWebhook, WebhookStore } from '../../runtime/ports/webhook-store.ts'
import { signingSecrets } from '../../runtime/webhooks/delivery.ts'
import type { Configuration } from '../config/configuration.ts'
import { existingMasterKeys, openLedgerSecrets } from '../ledger/ledger-secrets.ts'
import { createWebhookStore } from '../postgres/access/webhook-store-postgres.ts'
import { positionText, readPosition } from '../postgres/reads/event-places.ts'
import { createLedgerEvents } from '../postgres/reads/ledger-events-postgres.ts'
import { openStoreClock } from '../postgres/store/store-clock.ts'
import { createSystemRandom } from '../system/random-system.ts'
import { addressRuleOf } from '../webhooks/address-rules.ts'
import { createWebhookSender } from '../webhooks/webhook-sender-http.ts'
import { CommandFailed, type CommandIo, type CommandSetup, exitUnless } from './common/command.ts'
import { type ConfiguredLedger, withLedger } from './common/configured.ts'
import { recorded } from './common/recorded.ts'
import { addOutputOptions, type Column, createOutput, type Output, type OutputOptions } from './common/output.ts'

const COLUMNS: readonly Column[] = [
  { name: 'webhook_id' },
  { name: 'status' },
  { name: 'owner' },
  { name: 'delivered_count', right: true },
  { name: 'failure_count', right: true },
  { name: 'url' },
]

export const webhooksCommand: CommandSetup = (command, io) => {
  command.description('Lists, tests and deletes webhooks, and lets one send events again.')
  addOutputOptions(
    command
      .command('list')
      .summary('list the webhooks')
      .description('Lists all webhooks. With --json, one a line with the fields of GET /v1/webhooks.'),
  ).action((options: OutputOptions) => withWebhooks(io, (given) => list(given, createOutput(options, io))))
  addOutputOptions(
    command
      .command('test')
      .summary('send a test message')
      .description(
        `Sends a signed test message from this machine, which may reach other addresses than the edges do,
and prints the result. Exit code 1 if the receiver does not accept it.`,
      )
      .argument('<webhook>', 'ID of the webhook'),
  ).action((webhookId: string, options: OutputOptions) =>
    withWebhooks(io, (given) => test(given, webhookId, createOutput(options, io))),
  )
  command
    .command('replay')
    .summary('let a webhook send events again')
    .description(
      `Moves a webhook back, so that an edge sends its events again from the first one at this time on.
Reads the event log from its beginning up to there. Receivers recognize repeated events by webhook-id.
A disabled webhook stays disabled.`,
    )
    .argument('<webhook>', 'ID of the webhook')
    .requiredOption('--since <time>', 'time of the first event, such as 2030-01-02T00:00:00Z', timeOf)
    .action((webhookId: string, { since }: { since: number }) =>
      withWebhooks(io, (given) => replay(given, webhookId, since, io)),
    )
  command
    .command('delete')
    .summary('delete a webhook, also an unreadable one')
    .description(
      'Deletes a webhook with its deliveries, for good. Clients delete their own with DELETE /v1/webhooks/{id}.',
    )
    .argument('<webhook>', 'ID of the webhook')
    .action((webhookId: string) =>
      withWebhooks(io, async ({ given, store }) => {
        await recorded(given, { act: 'webhooks delete', details: { webhook_id: webhookId } }, async () => {
          if (!(await store.remove(webhookId))) throw noSuchWebhook(webhookId)
        })
        io.err(`the webhook ${webhookId} is deleted\n`)
      }),
    )
}

interface Webhooks {
  readonly given: ConfiguredLedger
  readonly store: WebhookStore
  readonly events: LedgerEvents
  readonly configuration: Configuration
  readonly ledgerId: string
  /** PostgreSQL's time, milliseconds since 1970. */
  readonly now: () => number
}

async function withWebhooks(io: CommandIo, work: (webhooks: Webhooks) => Promise<void>): Promise<void> {
  await withLedger(io, async (given) => {
    const { configuration, url, ledger } = given
    const { vault } = openLedgerSecrets(await existingMasterKeys(configuration), ledger)
    const onUnreadable = (id: string): void => io.err(`warning: the webhook ${id} is unreadable: no edge delivers it\n`)
    const store = createWebhookStore({ url, vault, onUnreadable })
    const { ledgerId } = ledger
    const events = createLedgerEvents({ url, ledgerId, vault })
    try {
      const { now } = await openStoreClock(url)
      await work({ given, store, events, configuration, ledgerId, now })
    } finally {
      await Promise.all([store.close(), events.close()])
    }
  })
}

async function list({ store }: Webhooks, output: Output): Promise<void> {
  const webhooks = await store.webhooks(null)
  output.table(webhooks.map(webhookMembers), COLUMNS, 'there are no webhooks')
}

async function test(given: Webhooks, webhookId: string, output: Output): Promise<void> {
  const { store, configuration, ledgerId, now } = given
  const { webhook } = found(await store.webhook(webhookId), webhookId)
  const nowMs = now()
  const sender = createWebhookSender({ mayConnect: addressRuleOf(configuration), now })
  const target = { connection: webhookId, url: webhook.url, secrets: signingSecrets(webhook.secrets, nowMs) }
  const message = webhookTestMessage({ webhookId, ledgerId, nowMs }, createSystemRandom())
  const attempt = await sender.send(target, message)
  sender.close()
  output.record({ webhook_id: webhookId, event_id: message.id, ...attemptMembers(attempt) })
  exitUnless(attempt.error === null)
}

async function replay(
  { given, store, events }: Webhooks,
  webhookId: string,
  sinceMs: number,
  io: CommandIo,
): Promise<void> {
  found(await store.webhook(webhookId), webhookId)
  const position = await positionBefore(events, sinceMs)
  if (position === undefined) throw new CommandFailed(`there is no event since ${isoTimestamp(sinceMs)}`)
  const details = { webhook_id: webhookId, since: isoTimestamp(sinceMs) }
  await recorded(given, { act: 'webhooks replay', details }, async () => {
    const moved = await store.change(webhookId, ({ webhook, progress }) => {
      // A position of a replaced database cannot be compared.
      const isKnown = readPosition(progress.position).acceptance === readPosition(position).acceptance
      if (isKnown && events.isAfter(position, progress.position)) {
        throw new CommandFailed(`the webhook has not sent the events since ${isoTimestamp(sinceMs)} yet`)
      }
      return { webhook, progress: { ...progress, position } }
    })
    found(moved, webhookId)
  })
  io.err(`the webhook sends its events since ${isoTimestamp(sinceMs)} again\n`)
}

const PAGE_SIZE = 1_000

/** The position before the first event of this time or later; undefined if there is none. */
async function positionBefore(events: LedgerEvents, sinceMs: number): Promise<EventPosition | undefined> {
  let before = positionText({ ...readPosition(await events.end()), xid: '0', offset: 0 })
  for (let after = before; ;) {
    const page = await events.read(after, PAGE_SIZE)
    for (const { timeMs, position } of page.events) {
      if (timeMs !== null && timeMs >= sinceMs) return before
      // An erased entry has no time: it belongs to the events behind it.
      if (timeMs !== null) before = position
    }
    if (page.atEnd) return undefined
    after = page.next
  }
}

function found(stored: StoredWebhook | undefined, webhookId: string): StoredWebhook {
  if (stored === undefined) throw noSuchWebhook(webhookId)
  return stored
}

function noSuchWebhook(webhookId: string): CommandFailed {
  return new CommandFailed(`there is no webhook ${webhookId}: ledger webhooks list prints all`)
}

function timeOf(text: string): number {
  const timeMs = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,3})?)?Z$/.test(text) ? Date.parse(text) : Number.NaN
  if (Number.isFinite(timeMs)) return timeMs
  throw new InvalidArgumentError('It must be a time in UTC, such as 2030-01-02T00:00:00Z.')
}
