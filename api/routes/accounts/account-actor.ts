/**
 * GET /v1/accounts/{id}/actor: how the account's actor is, and where.
 * POST /v1/accounts/{id}/actor/pause and /resume: stop what one account sends, or let it go on.
 */
import { ADMINS, type EdgeContext, type Endpoint, type GuardedCall, pathValue } from '../../endpoint/route.ts'
import { accountAddress } from '../../../actors/address.ts'
import { jsonReply } from '../../http/reply.ts'
import { pauseSchema, readReason } from '../../schemas/requests/account.ts'
import { accountActorResponse } from '../../schemas/responses/account.ts'
import { accountRead } from '../../endpoint/path-values.ts'
import { bodyEndpoint } from '../../endpoint/body-endpoint.ts'
import { askLedger, type LedgerRequest } from '../../endpoint/ask.ts'

export const getAccountActor: Endpoint = {
  id: 'getAccountActor',
  method: 'GET',
  path: '/v1/accounts/:accountId/actor',
  summary: 'See how an account’s actor is, and where',
  description: 'Asked of the node that owns the shard of the account, behind the orders that wait for it.',
  roles: ADMINS,
  answers: [{ status: 200, description: 'The actor.', content: accountActorResponse }],
  refusals: {
    ERR_SHARD_UNAVAILABLE: 'The shard of the account has no owner at this moment.',
    ERR_NO_HEALTHY_SHARDS: 'No shard of the ledger has an owner at this moment.',
    ERR_OVERLOADED: 'Too many orders wait for the account.',
  },
  handle: accountRead((_, context, call) => askActor(context, call, { kind: 'show_actor' })),
}

export const pauseAccount: Endpoint = {
  id: 'pauseAccount',
  method: 'POST',
  path: '/v1/accounts/:accountId/actor/pause',
  summary: 'Pause what an account sends',
  description: `Until it is resumed, orders of the account other than credits are refused with a 409 and use no idempotency key. Earlier orders end as usual, and value from others arrives. The audit chain has an entry with the reason. The request is idempotent.`,
  roles: ADMINS,
  changes: 'shard',
  administrative: [],
  body: pauseSchema,
  answers: [{ status: 200, description: 'The actor, paused.', content: accountActorResponse }],
  refusals: { ERR_CONFLICT: 'The account is closed.' },
  handle: changeActor('pause'),
}

export const resumeAccount: Endpoint = {
  id: 'resumeAccount',
  method: 'POST',
  path: '/v1/accounts/:accountId/actor/resume',
  summary: 'Let a paused account go on',
  description: 'The audit chain has an entry with the reason. The request is idempotent.',
  roles: ADMINS,
  changes: 'shard',
  administrative: [],
  body: pauseSchema,
  answers: [{ status: 200, description: 'The actor as it goes on.', content: accountActorResponse }],
  refusals: { ERR_CONFLICT: 'The account is closed.' },
  handle: changeActor('resume'),
}

function changeActor(kind: 'pause' | 'resume'): Endpoint['handle'] {
  return bodyEndpoint({
    read: (body) => readReason(body),
    run: ({ reason }, context, call) => askActor(context, call, { kind, reason }),
  })
}

function askActor(context: EdgeContext, call: GuardedCall, operation: LedgerRequest['operation']) {
  const request = { actor: accountAddress(pathValue(call, 'accountId')), operation }
  return askLedger(context, call, request, 'actor_shown', async ({ actor }) => {
    const { accountId, shardId, state, paused, version, holds, pending, resident, mailbox } = actor
    return jsonReply(200, {
      account_id: accountId,
      state,
      paused,
      shard_id: shardId,
      owner: (await context.shardHealth.shard(shardId))?.owner ?? null,
      version,
      holds,
      pending_count: pending,
      resident,
      mailbox_length: mailbox,
    })
  })
}
