/** GET /v1/webhooks, /v1/webhooks/{id} and /v1/webhooks/{id}/deliveries (D23). */
import { listReply, sliceAfter } from '../../endpoint/paging.ts'
import { PAGING } from '../../endpoint/parameters.ts'
import { type Endpoint, SUBMITTERS } from '../../endpoint/route.ts'
import { findWebhook, noSuchWebhook, seesAllWebhooks } from '../../endpoint/webhook-resource.ts'
import { jsonReply } from '../../http/reply.ts'
import { deliveryListResponse, webhookListResponse, webhookResponse } from '../../schemas/responses/webhook.ts'
import { deliveryMembers, webhookMembers } from '../../views/webhook-views.ts'

export const listWebhooks: Endpoint = {
  id: 'listWebhooks',
  method: 'GET',
  path: '/v1/webhooks',
  summary: 'List webhooks',
  description: 'Oldest first, without secrets. An administrator sees all, any other client those that it registered.',
  roles: SUBMITTERS,
  parameters: PAGING,
  answers: [{ status: 200, description: 'One page.', content: webhookListResponse }],
  handle: (context, call) =>
    listReply(context, call, [], async (request) => {
      const all = await context.webhooks.webhooks(seesAllWebhooks(call) ? null : call.caller.clientId)
      const { rows, next } = sliceAfter(all, ({ webhook }) => webhook.webhookId, request)
      return { members: { webhooks: rows.map(webhookMembers) }, next }
    }),
}

export const getWebhook: Endpoint = {
  id: 'getWebhook',
  method: 'GET',
  path: '/v1/webhooks/:webhookId',
  summary: 'Get a webhook',
  description: 'Without its secret. Counts and times are those of the last stored progress, at most a second old.',
  roles: SUBMITTERS,
  answers: [{ status: 200, description: 'The webhook.', content: webhookResponse }],
  async handle(context, call) {
    const found = await findWebhook(context, call)
    return found === undefined ? noSuchWebhook() : jsonReply(200, webhookMembers(found))
  },
}

export const listWebhookDeliveries: Endpoint = {
  id: 'listWebhookDeliveries',
  method: 'GET',
  path: '/v1/webhooks/:webhookId/deliveries',
  summary: 'See the last deliveries of a webhook',
  description: 'The last 100 events with their attempts, newest first. Nothing of a response but its status is kept.',
  roles: SUBMITTERS,
  answers: [{ status: 200, description: 'The deliveries.', content: deliveryListResponse }],
  async handle(context, call) {
    const found = await findWebhook(context, call)
    if (found === undefined) return noSuchWebhook()
    const { webhookId } = found.webhook
    const deliveries = await context.webhooks.deliveries(webhookId)
    return jsonReply(200, { webhook_id: webhookId, deliveries: deliveries.map(deliveryMembers) })
  },
}
