/** DELETE /v1/webhooks/{id}, POST /v1/webhooks/{id}/enable and /v1/webhooks/{id}/rotate-secret (D23). */
import { isoTimestamp } from '../../../actors/timestamp.ts'
import { EventPositionForeign, type EventPosition, type LedgerEvents } from '../../../runtime/ports/ledger-events.ts'
import { type Endpoint, SUBMITTERS } from '../../endpoint/route.ts'
import { findWebhook, newWebhookSecret, noSuchWebhook } from '../../endpoint/webhook-resource.ts'
import { problem } from '../../http/problem.ts'
import { jsonReply, textReply } from '../../http/reply.ts'
import { rotatedSecretResponse, webhookResponse } from '../../schemas/responses/webhook.ts'
import { webhookMembers } from '../../views/webhook-views.ts'

export const deleteWebhook: Endpoint = {
  id: 'deleteWebhook',
  method: 'DELETE',
  path: '/v1/webhooks/:webhookId',
  summary: 'Delete a webhook',
  description: 'For good, with its deliveries. Messages may still arrive for a few seconds.',
  roles: SUBMITTERS,
  changes: 'store',
  administrative: [],
  answers: [{ status: 204, description: 'It is deleted.', content: null }],
  async handle(context, call) {
    const found = await findWebhook(context, call)
    if (found === undefined || !(await context.webhooks.remove(found.webhook.webhookId))) return noSuchWebhook()
    return textReply(204, 'text/plain', '')
  },
}

export const enableWebhook: Endpoint = {
  id: 'enableWebhook',
  method: 'POST',
  path: '/v1/webhooks/:webhookId/enable',
  summary: 'Let a webhook go on',
  description:
    'The next event is sent at once, and the five days begin again. Deliveries continue where they stopped. After `position_lost` they begin at the end of the log, unless the operator has moved the webhook back (`ledger webhooks replay`): events in between are not sent. The request is idempotent.',
  roles: SUBMITTERS,
  changes: 'store',
  administrative: [],
  answers: [{ status: 200, description: 'The webhook.', content: webhookResponse }],
  async handle(context, call) {
    const { clock, events, webhooks } = context
    const found = await findWebhook(context, call)
    if (found === undefined) return noSuchWebhook()
    const { webhookId } = found.webhook
    const lost = found.progress.position
    const end = (await isForeign(events, lost)) ? await events.end() : lost
    const changed = await webhooks.change(webhookId, ({ webhook, progress }) => ({
      webhook: { ...webhook, disabled: null },
      progress: {
        ...progress,
        position: progress.position === lost ? end : progress.position,
        failures: 0,
        failingSinceMs: null,
        nextAttemptAtMs: clock.now(),
      },
    }))
    return changed === undefined ? noSuchWebhook() : jsonReply(200, webhookMembers(changed))
  },
}

async function isForeign(events: Pick<LedgerEvents, 'read'>, position: EventPosition): Promise<boolean> {
  try {
    await events.read(position, 1)
    return false
  } catch (error) {
    if (error instanceof EventPositionForeign) return true
    throw error
  }
}

const OVERLAP_MS = 86_400_000
/** Previous secrets that may sign at one time: the header with the signatures stays short. */
const MAX_PREVIOUS = 3

export const rotateWebhookSecret: Endpoint = {
  id: 'rotateWebhookSecret',
  method: 'POST',
  path: '/v1/webhooks/:webhookId/rotate-secret',
  summary: 'Replace the secret of a webhook',
  description:
    'The new secret is shown only in this response. For 24 h the previous secret signs each message, too. If the response is lost, send the request again: the earlier secrets keep signing for their time.',
  roles: SUBMITTERS,
  changes: 'store',
  administrative: [],
  answers: [{ status: 200, description: 'The new secret.', content: rotatedSecretResponse }],
  refusals: { ERR_CONFLICT: `The secret was replaced ${MAX_PREVIOUS} times within 24 h.` },
  async handle(context, call) {
    const { clock, random, webhooks } = context
    const found = await findWebhook(context, call)
    if (found === undefined) return noSuchWebhook()
    const { webhookId } = found.webhook
    const nowMs = clock.now()
    const secret = newWebhookSecret(random)
    const untilMs = nowMs + OVERLAP_MS
    let isRefused = false
    const changed = await webhooks.change(webhookId, ({ webhook }) => {
      const signing = webhook.secrets.previous.filter((one) => nowMs < one.untilMs)
      isRefused = signing.length >= MAX_PREVIOUS
      const previous = [{ secret: webhook.secrets.current, untilMs }, ...signing]
      return { webhook: isRefused ? webhook : { ...webhook, secrets: { current: secret, previous } } }
    })
    if (isRefused)
      return problem('conflict', 'ERR_CONFLICT', `The secret was replaced ${MAX_PREVIOUS} times within 24 h.`)
    if (changed === undefined) return noSuchWebhook()
    return jsonReply(200, {
      webhook_id: webhookId,
      secret,
      previous_secret_expires_at: isoTimestamp(untilMs),
    })
  },
}
