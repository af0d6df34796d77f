/** POST /v1/accounts/{id}/keys: another key for the account, signed by the one in force (D2). */
import { accountAddress } from '../../../actors/address.ts'
import { readJsonBody } from '../../http/body.ts'
import type { EdgeDependencies } from '../../http/dependencies.ts'
import { checkAccountId } from '../../endpoint/path-values.ts'
import { invalidProblem } from '../../http/problem.ts'
import { noSuchAccount, signedRefusal, unavailableProblem } from '../../endpoint/refusals.ts'
import { jsonReply } from '../../http/reply.ts'
import { type GuardedRoute, pathValue, SUBMITTERS } from '../../endpoint/route.ts'
import { readRotation } from '../../schemas/account.ts'
import { carriedSignature, repeatHeaders, signedPayload } from '../../http/signed-body.ts'
import { unexpectedAnswer } from '../../endpoint/unexpected-answer.ts'
import { accountMembers } from '../../views/views.ts'

/** `proof` is the new key's signature over the same payload, so it is in neither. */
const NOT_SIGNED = ['signature', 'proof']

export function rotateKey({ gateway, isSignature, readPublicKey, jwkOf }: EdgeDependencies): GuardedRoute {
  return {
    access: 'token',
    method: 'POST',
    path: '/v1/accounts/:accountId/keys',
    roles: SUBMITTERS,
    asksLedger: true,
    async handle(call) {
      const body = await readJsonBody(call.http.req.raw)
      if (!body.ok) return body.error
      const accountId = pathValue(call, 'accountId')
      const illFormed = checkAccountId(accountId)
      if (illFormed !== undefined) return illFormed
      const rotation = readRotation(body.value, accountId, readPublicKey)
      if (!rotation.ok) return invalidProblem('validation-error', rotation.error)
      if (!call.scope.includes(accountId)) return noSuchAccount()
      const { signature, proof } = rotation.value
      const payload = signedPayload(body.value, NOT_SIGNED)
      const outcome = await gateway.ask({
        actor: accountAddress(accountId),
        caller: call.caller,
        trail: call.trail,
        operation: {
          kind: 'rotate_key',
          payload,
          signature: carriedSignature(signature),
          proof: proof === null ? null : carriedSignature(proof),
        },
      })
      if (outcome.kind === 'unavailable') return unavailableProblem(outcome.reason, outcome.outcome)
      const { answer } = outcome
      if (answer.kind === 'refused') return signedRefusal(answer, { payload, signature, proof }, isSignature)
      if (answer.kind !== 'rotated') return unexpectedAnswer(answer)
      return jsonReply(201, accountMembers(answer.account, jwkOf), repeatHeaders(answer))
    },
  }
}
