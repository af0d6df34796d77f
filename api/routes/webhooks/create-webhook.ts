/** POST /v1/webhooks: registers where events are sent (D23). */
import { isDeepStrictEqual } from 'node:util'
import { MAX_WEBHOOKS, MAX_WEBHOOKS_OF_CLIENT, type Webhook } from '../../../runtime/ports/webhook-store.ts'
import { bodyEndpoint } from '../../endpoint/body-endpoint.ts'
import { IDEMPOTENCY_KEY_HEADER } from '../../endpoint/parameters.ts'
import { randomUlid } from '../../endpoint/random-ulid.ts'
import { type Endpoint, SUBMITTERS } from '../../endpoint/route.ts'
import { newWebhookSecret } from '../../endpoint/webhook-resource.ts'
import { notFound, type Problem, problem } from '../../http/problem.ts'
import { jsonReply } from '../../http/reply.ts'
import { readWebhook, webhookSchema } from '../../schemas/requests/webhook.ts'
import { createdWebhookResponse } from '../../schemas/responses/webhook.ts'
import { webhookMembers } from '../../views/webhook-views.ts'

export const createWebhook: Endpoint = {
  id: 'createWebhook',
  method: 'POST',
  path: '/v1/webhooks',
  summary: 'Have events sent to a URL',
  description: `Events that happen from now on are sent to \`url\`, each in a POST that is signed after [Standard Webhooks](https://www.standardwebhooks.com), in the order of the log, at least once. The next event is sent only after a response of 2xx. Any other response within 10 s, or none, is a failed attempt. The event is sent again: the delays double from 20 ms to a day, and half of each is random. After five days of failed attempts the webhook is disabled.

Redirects are not followed. In production \`url\` must be https, and its address must be public or allowed by the operator; the address is checked for each connection.

A client that is scoped to accounts gets only events of these accounts. If the client is revoked, its webhooks are disabled. A client may have ${MAX_WEBHOOKS_OF_CLIENT} webhooks, and a ledger ${MAX_WEBHOOKS}.`,
  roles: SUBMITTERS,
  changes: 'store',
  administrative: ['url', 'types'],
  parameters: [IDEMPOTENCY_KEY_HEADER],
  body: webhookSchema,
  answers: [
    {
      status: 201,
      description: 'It is stored.',
      content: createdWebhookResponse,
      headers: ['Location', 'Idempotency-Replayed', 'Idempotency-Payload-Mismatch'],
    },
  ],
  refusals: {
    ERR_NOT_FOUND: 'The client is scoped to accounts, and `account_id` is outside them.',
    ERR_CONFLICT:
      'The client, or the ledger, has as many webhooks as it may have, or the key belongs to another webhook.',
  },
  handle: bodyEndpoint({
    read: (body, { settings, webhookSender }) =>
      readWebhook(body, { plainHttp: settings.environment === 'sandbox', mayConnect: webhookSender.mayConnect }),
    find: ({ accountId }, { scope }) =>
      accountId === null || scope.includes(accountId) ? undefined : notFound('There is no such account.', 'account_id'),
    async run(registration, { webhooks, events, clock, random }, { caller, registrationKey }) {
      const createdAtMs = clock.now()
      const webhook: Webhook = {
        ...registration,
        webhookId: `whk_${randomUlid(random, createdAtMs)}`,
        ownerId: caller.clientId,
        secrets: { current: newWebhookSecret(random), previous: [] },
        createdAtMs,
        disabled: null,
      }
      const stored = await webhooks.create(webhook, await events.end(), registrationKey)
      if (typeof stored === 'string') return tooMany(stored)
      const { webhookId, secrets } = stored.webhook
      if (!isDeepStrictEqual(registrationOf(stored.webhook), registrationOf(webhook))) return otherWebhook(webhookId)
      const members = { ...webhookMembers(stored), secret: secrets.current }
      return jsonReply(201, members, { location: `/v1/webhooks/${webhookId}` })
    },
  }),
}

function registrationOf({ url, types, accountId, description }: Webhook) {
  return { url, types, accountId, description }
}

/** The reply of the earlier request is kept no longer than its key. */
function otherWebhook(webhookId: string): Problem {
  return problem(
    'conflict',
    'ERR_CONFLICT',
    `The Idempotency-Key belongs to the webhook ${webhookId}. Use another key.`,
  )
}

function tooMany(outcome: 'too_many_of_client' | 'too_many'): Problem {
  const detail =
    outcome === 'too_many'
      ? `The ledger has ${MAX_WEBHOOKS} webhooks, which is the limit.`
      : `The client has ${MAX_WEBHOOKS_OF_CLIENT} webhooks, which is the limit. Delete one of them first.`
  return problem('conflict', 'ERR_CONFLICT', detail)
}
