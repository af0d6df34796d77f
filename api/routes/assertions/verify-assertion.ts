/** POST /v1/assertions/verify: whether this ledger has signed what is shown, and stands by it (D12). */
import { isoTimestamp } from '../../../actors/timestamp.ts'
import { problemOfAssertion } from '../../endpoint/assertion.ts'
import { readAnyJsonBody } from '../../http/body.ts'
import type { EdgeDependencies } from '../../http/dependencies.ts'
import { invalidProblem } from '../../http/problem.ts'
import { jsonReply } from '../../http/reply.ts'
import { EVERYONE, type GuardedRoute } from '../../endpoint/route.ts'
import { readAssertionCheck } from '../../schemas/assertion.ts'
import { fieldPath } from '../../http/invalid.ts'

export function verifyAssertion({ serviceKeys, clock, settings }: EdgeDependencies): GuardedRoute {
  return {
    access: 'token',
    method: 'POST',
    path: '/v1/assertions/verify',
    roles: EVERYONE,
    asksLedger: false,
    async handle({ http }) {
      const read = await readAnyJsonBody(http.req.raw)
      if (!read.ok) return read.error
      const { body, inexact } = read.value
      const given = readAssertionCheck(body)
      if (!given.ok) return invalidProblem('validation-error', given.error)
      const reason =
        inexact === undefined
          ? problemOfAssertion(given.value, serviceKeys.published(), settings.ledgerId)
          : `${fieldPath(inexact.keys)}: ${inexact.message}.`
      const verifiedAt = isoTimestamp(clock.now())
      return reason === undefined
        ? jsonReply(200, { valid: true, verified_at: verifiedAt })
        : jsonReply(200, { valid: false, verified_at: verifiedAt, reason })
    },
  }
}
