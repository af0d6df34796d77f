/** The common part of the three proofs: every role may ask, and the requester is signed with the findings. */
import type { JsonObject } from '../../actors/canonical-json.ts'
import { type AssertionSource, AssertionUnavailable } from '../../runtime/ports/assertion-source.ts'
import type { Problem } from '../http/problem.ts'
import { jsonReply } from '../http/reply.ts'
import { type AssertionType, readAssertionRequest } from '../schemas/requests/assertion.ts'
import { signedAssertion } from './assertion.ts'
import { bodyEndpoint } from './body-endpoint.ts'
import type { Endpoint } from './route.ts'

/** `find`: computes the members of the result. `refusal`: a more specific problem than `service unavailable`. */
export function proof(
  type: AssertionType,
  find: (assertions: AssertionSource) => Promise<JsonObject>,
  refusal: (error: AssertionUnavailable) => Problem | undefined = () => undefined,
): Endpoint['handle'] {
  return bodyEndpoint({
    read: (body) => readAssertionRequest(body),
    async run(requester, context) {
      let members: JsonObject
      try {
        members = await find(context.assertions)
      } catch (error) {
        const refused = error instanceof AssertionUnavailable ? refusal(error) : undefined
        if (refused === undefined) throw error
        return refused
      }
      return jsonReply(200, await signedAssertion(context, type, requester, members))
    },
  })
}
