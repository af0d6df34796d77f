/** POST /v1/assertions/verify: whether this ledger signed the assertion, under a key that is not revoked (D12). */
import { type Endpoint, EVERYONE } from '../../endpoint/route.ts'
import { isoTimestamp } from '../../../actors/timestamp.ts'
import { problemOfAssertion } from '../../endpoint/assertion.ts'
import { readAnyJsonBody } from '../../http/body.ts'
import { invalidProblem } from '../../http/problem.ts'
import { jsonReply } from '../../http/reply.ts'
import { assertionCheckSchema, readAssertionCheck } from '../../schemas/requests/assertion.ts'
import { fieldPath } from '../../http/invalid.ts'
import { verificationResponse } from '../../schemas/responses/assertion.ts'

export const verifyAssertion: Endpoint = {
  id: 'verifyAssertion',
  method: 'POST',
  path: '/v1/assertions/verify',
  summary: 'Verify an assertion',
  description:
    'Whether this ledger signed the result, with a key for assertions that was in use at `generated_at` and is not revoked. An invalid assertion is a 200 with the reason; only a missing field or a field of the wrong type is a 400.',
  roles: EVERYONE,
  body: assertionCheckSchema,
  answers: [{ status: 200, description: 'Whether it is valid.', content: verificationResponse }],
  async handle({ serviceKeys, clock, settings }, { http }) {
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
