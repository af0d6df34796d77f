/**
 * GET /v1/accounts/{id}/actor: how the account's actor is, and where.
 * POST /v1/accounts/{id}/actor/pause and /resume: stop what one account sends, or let it go on.
 */
import { accountAddress } from '../../../actors/address.ts'
import type { Operation } from '../../../runtime/protocol/messages.ts'
import { readJsonBody } from '../../http/body.ts'
import type { EdgeDependencies } from '../../http/dependencies.ts'
import { checkAccountId } from '../../endpoint/path-values.ts'
import { invalidProblem, type Problem } from '../../http/problem.ts'
import { noSuchAccount, refusalProblem, unavailableProblem } from '../../endpoint/refusals.ts'
import { jsonReply } from '../../http/reply.ts'
import { ADMINS, type GuardedCall, type GuardedRoute, pathValue } from '../../endpoint/route.ts'
import { readReason } from '../../schemas/account.ts'
import { unexpectedAnswer } from '../../endpoint/unexpected-answer.ts'

export function getAccountActor(dependencies: EdgeDependencies): GuardedRoute {
  return {
    access: 'token',
    method: 'GET',
    path: '/v1/accounts/:accountId/actor',
    roles: ADMINS,
    asksLedger: false,
    handle: async (call) => wrongAccount(call) ?? (await asked(dependencies, call, { kind: 'show_actor' })),
  }
}

export function changeAccountActor(dependencies: EdgeDependencies, verb: 'pause' | 'resume'): GuardedRoute {
  return {
    access: 'token',
    method: 'POST',
    path: `/v1/accounts/:accountId/actor/${verb}`,
    roles: ADMINS,
    asksLedger: true,
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

async function asked({ gateway, shardHealth }: EdgeDependencies, call: GuardedCall, operation: Operation) {
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
