/** POST /v1/assertions/verify: whether this ledger has signed what is shown, and stands by it (D12). */
import { isoTimestamp } from '../../actors/timestamp.ts'
import { problemOfAssertion } from '../assertion.ts'
import { readJsonBody } from '../body.ts'
import type { EdgeDependencies } from '../dependencies.ts'
import { invalidProblem } from '../problem.ts'
import { jsonReply } from '../reply.ts'
import { EVERYONE, type GuardedRoute } from '../route.ts'
import { readAssertionCheck } from '../schemas/assertion.ts'

export function verifyAssertion({ serviceKeys, clock, settings }: EdgeDependencies): GuardedRoute {
  return {
    access: 'token',
    method: 'POST',
    path: '/v1/assertions/verify',
    roles: EVERYONE,
    asksLedger: false,
    async handle({ http }) {
      const body = await readJsonBody(http.req.raw)
      if (!body.ok) return body.error
      const given = readAssertionCheck(body.value)
      if (!given.ok) return invalidProblem('validation-error', given.error)
      const reason = problemOfAssertion(given.value, serviceKeys.published(), settings.ledgerId)
      const verifiedAt = isoTimestamp(clock.now())
      return reason === undefined
        ? jsonReply(200, { valid: true, verified_at: verifiedAt })
        : jsonReply(200, { valid: false, verified_at: verifiedAt, reason })
    },
  }
}
