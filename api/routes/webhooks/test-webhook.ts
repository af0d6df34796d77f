/** POST /v1/webhooks/{id}/test: sends a message that is no event of the log (D23). */
import { SlotsExhausted } from '../../../runtime/common/slots.ts'
import { signingSecrets } from '../../../runtime/webhooks/delivery.ts'
import { type Endpoint, SUBMITTERS } from '../../endpoint/route.ts'
import { findWebhook, noSuchWebhook } from '../../endpoint/webhook-resource.ts'
import { problem } from '../../http/problem.ts'
import { jsonReply } from '../../http/reply.ts'
import { webhookTestResponse } from '../../schemas/responses/webhook.ts'
import { attemptMembers, WEBHOOK_TEST_TYPE, webhookTestMessage } from '../../views/webhook-views.ts'

/** Each may take 10 s. */
export const WEBHOOK_TEST_SLOTS = { concurrency: 8, maxWaiting: 0, maxPerHolder: 2 }

const TOO_MANY = `${WEBHOOK_TEST_SLOTS.maxPerHolder} tests of this client, or ${WEBHOOK_TEST_SLOTS.concurrency} of all, are under way. Try again.`

export const testWebhook: Endpoint = {
  id: 'testWebhook',
  method: 'POST',
  path: '/v1/webhooks/:webhookId/test',
  summary: 'Send a test message',
  description: `Sends one message of the type \`${WEBHOOK_TEST_TYPE}\`, signed like any other, to a webhook that may be disabled, and responds with the result of this attempt. It is no event of the log, is not repeated, and is not among the deliveries.`,
  roles: SUBMITTERS,
  answers: [{ status: 200, description: 'The result.', content: webhookTestResponse }],
  refusals: { ERR_OVERLOADED: TOO_MANY },
  async handle(context, call) {
    const { clock, random, settings, webhookSender, webhookTests } = context
    const found = await findWebhook(context, call)
    if (found === undefined) return noSuchWebhook()
    const { webhookId, url, secrets } = found.webhook
    const nowMs = clock.now()
    const message = webhookTestMessage({ webhookId, ledgerId: settings.ledgerId, nowMs }, random)
    const target = { connection: `test ${message.id}`, url, secrets: signingSecrets(secrets, nowMs) }
    try {
      const attempt = await webhookTests.run(call.caller.clientId, () => webhookSender.send(target, message))
      const members = { webhook_id: webhookId, event_id: message.id, accepted: attempt.error === null }
      return jsonReply(200, { ...members, ...attemptMembers(attempt) })
    } catch (error) {
      if (error instanceof SlotsExhausted) return problem('downstream-failure', 'ERR_OVERLOADED', TOO_MANY)
      throw error
    } finally {
      webhookSender.forget(target.connection)
    }
  },
}
