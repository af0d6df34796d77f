/**
 * The webhook of a path.
 *   H1. A webhook exists for the client that registered it, and for administrators without a scope. For any other client it
 *       is a missing resource.
 */
import type { StoredWebhook } from '../../runtime/ports/webhook-store.ts'
import type { Random } from '../../runtime/ports/random.ts'
import { notFound, type Problem } from '../http/problem.ts'
import { type EdgeContext, type GuardedCall, pathValue } from './route.ts'

type Caller = Pick<GuardedCall, 'caller' | 'scope'>

/** Whether the client sees the webhooks of all clients (H1). */
export function seesAllWebhooks({ caller, scope }: Caller): boolean {
  return caller.role === 'admin' && scope.whole
}

/** The webhook of the path, if there is one for the client. */
export async function findWebhook(
  { webhooks }: Pick<EdgeContext, 'webhooks'>,
  call: GuardedCall,
): Promise<StoredWebhook | undefined> {
  const found = await webhooks.webhook(pathValue(call, 'webhookId'))
  const isSeen = found !== undefined && (seesAllWebhooks(call) || found.webhook.ownerId === call.caller.clientId)
  return isSeen ? found : undefined
}

export function noSuchWebhook(): Problem {
  return notFound('There is no such webhook.')
}

const SECRET_BYTES = 32

export function newWebhookSecret(random: Random): string {
  return `whsec_${Buffer.from(random.hex(SECRET_BYTES), 'hex').toString('base64')}`
}
