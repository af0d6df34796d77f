/** POST /v1/fungible-tokens: registers a token; its supply is its issuer's when the answer is given (D5). */
import { tokenAddress } from '../../../actors/address.ts'
import { BASE_UNIT } from '../../../actors/money.ts'
import type { EdgeDependencies } from '../../http/dependencies.ts'
import { idempotent } from '../../endpoint/idempotent-endpoint.ts'
import { type Problem, problem } from '../../http/problem.ts'
import { noSuchAccount, signedRefusal, unavailableProblem } from '../../endpoint/refusals.ts'
import { jsonReply } from '../../http/reply.ts'
import { type GuardedRoute, SUBMITTERS } from '../../endpoint/route.ts'
import { readTokenRegistration } from '../../schemas/fungible-token.ts'
import { carriedSignature, repeatHeaders } from '../../http/signed-body.ts'
import { unexpectedAnswer } from '../../endpoint/unexpected-answer.ts'
import { tokenMembers } from '../../views/views.ts'

export function createFungibleToken(dependencies: EdgeDependencies): GuardedRoute {
  const { gateway, isSignature } = dependencies
  return {
    access: 'token',
    method: 'POST',
    path: '/v1/fungible-tokens',
    roles: SUBMITTERS,
    asksLedger: true,
    handle: idempotent(dependencies, {
      read: readTokenRegistration,
      find: ({ issuer }, { scope }) => (scope.includes(issuer) ? undefined : noSuchAccount()),
      async run(registration, { caller, trail }, registrationKey) {
        const { symbol, payload, signature } = registration
        if (symbol.toUpperCase() === BASE_UNIT) return baseUnitTaken()
        const outcome = await gateway.ask({
          actor: tokenAddress(symbol),
          caller,
          trail,
          operation: {
            kind: 'register_token',
            payload,
            signature: signature === null ? null : carriedSignature(signature),
            registrationKey,
          },
        })
        if (outcome.kind === 'unavailable') return unavailableProblem(outcome.reason, outcome.outcome)
        const { answer } = outcome
        if (answer.kind === 'refused') return signedRefusal(answer, registration, isSignature)
        if (answer.kind !== 'token_registered') return unexpectedAnswer(answer)
        return jsonReply(201, tokenMembers(answer.token), {
          location: `/v1/fungible-tokens/${encodeURIComponent(answer.token.tokenId)}`,
          ...repeatHeaders(answer),
        })
      },
    }),
  }
}

/** Symbols are unique without regard to case (D1), and this one is taken from the start (D3). */
function baseUnitTaken(): Problem {
  const message = `${BASE_UNIT} is the ledger's own unit.`
  return problem('conflict', 'ERR_CONFLICT', message, [{ field: 'symbol', message }])
}
