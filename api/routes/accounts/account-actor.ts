/**
 * GET /v1/accounts/{id}/actor: how the account's actor is, and where.
 * POST /v1/accounts/{id}/actor/pause and /resume: stop what one account sends, or let it go on.
 */
import { ADMINS, guarded, type GuardedCall, type GuardedRoute, pathValue } from '../../endpoint/route.ts'
import { accountAddress } from '../../../actors/address.ts'
import type { Operation as LedgerOperation } from '../../../runtime/protocol/messages.ts'
import type { Operation } from '../../endpoint/operation.ts'
import { readJsonBody } from '../../http/body.ts'
import type { EdgeDependencies } from '../../http/dependencies.ts'
import { checkAccountId } from '../../endpoint/path-values.ts'
import { invalidProblem, type Problem } from '../../http/problem.ts'
import { noSuchAccount, refusalProblem, unavailableProblem } from '../../endpoint/refusals.ts'
import { jsonReply } from '../../http/reply.ts'
import { pauseSchema, readReason } from '../../schemas/account.ts'
import { unexpectedAnswer } from '../../endpoint/unexpected-answer.ts'
import { accountActorResponse } from '../../schemas/responses/account.ts'

export const GET_ACCOUNT_ACTOR: Operation = {
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
}

export const PAUSE_ACCOUNT: Operation = {
  id: 'pauseAccount',
  method: 'POST',
  path: '/v1/accounts/:accountId/actor/pause',
  summary: 'Pause what an account sends',
  description: `Until it is resumed, orders of the account other than credits are refused with a 409 and use no idempotency key. Earlier orders end as usual, and value from others arrives. The audit chain has an entry with the reason. The request is idempotent.`,
  roles: ADMINS,
  changes: 'shard',
  body: pauseSchema,
  answers: [{ status: 200, description: 'The actor, paused.', content: accountActorResponse }],
  refusals: { ERR_CONFLICT: 'The account is closed.' },
}

export const RESUME_ACCOUNT: Operation = {
  id: 'resumeAccount',
  method: 'POST',
  path: '/v1/accounts/:accountId/actor/resume',
  summary: 'Let a paused account go on',
  description: 'The audit chain has an entry with the reason. The request is idempotent.',
  roles: ADMINS,
  changes: 'shard',
  body: pauseSchema,
  answers: [{ status: 200, description: 'The actor as it goes on.', content: accountActorResponse }],
  refusals: { ERR_CONFLICT: 'The account is closed.' },
}

export function getAccountActor(dependencies: EdgeDependencies): GuardedRoute {
  return {
    ...guarded(GET_ACCOUNT_ACTOR),
    handle: async (call) => wrongAccount(call) ?? (await asked(dependencies, call, { kind: 'show_actor' })),
  }
}

export function changeAccountActor(dependencies: EdgeDependencies, verb: 'pause' | 'resume'): GuardedRoute {
  return {
    ...guarded(verb === 'pause' ? PAUSE_ACCOUNT : RESUME_ACCOUNT),
    async handle(call) {
      const body = await readJsonBody(call.http.req.raw)
      if (!body.ok) return body.error
      const illFormed = checkAccountId(pathValue(call, 'accountId'))
      if (illFormed !== undefined) return illFormed
      const read = readReason(body.value)
      if (!read.ok) return invalidProblem('validation-error', read.error)
      return wrongAccount(call) ?? (await asked(dependencies, call, { kind: verb, reason: read.value.reason }))
    },
  }
}

function wrongAccount(call: GuardedCall): Problem | undefined {
  const accountId = pathValue(call, 'accountId')
  return checkAccountId(accountId) ?? (call.scope.includes(accountId) ? undefined : noSuchAccount())
}

async function asked({ gateway, shardHealth }: EdgeDependencies, call: GuardedCall, operation: LedgerOperation) {
  const actor = accountAddress(pathValue(call, 'accountId'))
  const outcome = await gateway.ask({ actor, caller: call.caller, trail: call.trail, operation })
  if (outcome.kind === 'unavailable') {
    // A look has no outcome to be in doubt of.
    return unavailableProblem(outcome.reason, operation.kind === 'show_actor' ? null : outcome.outcome)
  }
  const { answer } = outcome
  if (answer.kind === 'refused') return refusalProblem(answer)
  if (answer.kind !== 'actor_shown') return unexpectedAnswer(answer)
  const { accountId, shardId, state, paused, version, holds, pending, resident, mailbox } = answer.actor
  return jsonReply(200, {
    account_id: accountId,
    state,
    paused,
    shard_id: shardId,
    owner: (await shardHealth.shard(shardId))?.owner ?? null,
    version,
    holds,
    pending_count: pending,
    resident,
    mailbox_length: mailbox,
  })
}
