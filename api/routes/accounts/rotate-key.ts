/** POST /v1/accounts/{id}/keys: another key for the account, signed by the one in force (D2). */
import { guarded, type GuardedRoute, pathValue, SUBMITTERS } from '../../endpoint/route.ts'
import { accountAddress } from '../../../actors/address.ts'
import { readJsonBody } from '../../http/body.ts'
import type { EdgeDependencies } from '../../http/dependencies.ts'
import { checkAccountId } from '../../endpoint/path-values.ts'
import { invalidProblem } from '../../http/problem.ts'
import { noSuchAccount, signedRefusal, unavailableProblem } from '../../endpoint/refusals.ts'
import { jsonReply } from '../../http/reply.ts'
import { readRotation, rotationSchema } from '../../schemas/account.ts'
import { carriedSignature, repeatHeaders, signedPayload } from '../../http/signed-body.ts'
import { unexpectedAnswer } from '../../endpoint/unexpected-answer.ts'
import { accountMembers } from '../../views/views.ts'
import { accountResponse } from '../../schemas/responses/account.ts'
import type { Operation } from '../../endpoint/operation.ts'

export const ROTATE_KEY: Operation = {
  id: 'rotateKey',
  method: 'POST',
  path: '/v1/accounts/:accountId/keys',
  summary: 'Give an account another key',
  description: `Signed by the key in force now; \`proof\` is the new key’s signature over the same payload (the body without \`signature\` and \`proof\`), and is required in production. From the 201 on orders are signed with the new key.

The same \`idempotency_key\` again gets the first answer again. A repeat of an older order may still carry the signature of the key that was in force then.`,
  roles: SUBMITTERS,
  changes: 'shard',
  body: rotationSchema,
  answers: [
    {
      status: 201,
      description: 'The new key is in force.',
      content: accountResponse,
      headers: ['Idempotency-Replayed', 'Idempotency-Payload-Mismatch'],
    },
  ],
  refusals: {
    ERR_INVALID_ACCOUNT_ID: 'An account ID is missing, ill-formed, or not the one of the path.',
    ERR_CONFLICT: 'The account is frozen or closed.',
    ERR_FORBIDDEN: 'The role does not permit this, or the account has no key.',
    ERR_SIGNATURE_MISMATCH: '`signature` does not verify under the key in force, or `proof` under the new one.',
  },
}

/** `proof` is the new key's signature over the same payload, so it is in neither. */
const NOT_SIGNED = ['signature', 'proof']

export function rotateKey({ gateway, isSignature, readPublicKey, jwkOf }: EdgeDependencies): GuardedRoute {
  return {
    ...guarded(ROTATE_KEY),
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
