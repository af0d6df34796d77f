/** The common part of the three proofs: every role may ask, and the requester is signed with the findings. */
import type { JsonObject } from '../../actors/canonical-json.ts'
import { type AssertionSource, AssertionUnavailable } from '../../runtime/ports/assertion-source.ts'
import { type AssertionSigner, createAssertionSigner } from './assertion.ts'
import { readJsonBody } from '../http/body.ts'
import type { EdgeDependencies } from '../http/dependencies.ts'
import { invalidProblem, type Problem } from '../http/problem.ts'
import { jsonReply } from '../http/reply.ts'
import type { Operation } from './operation.ts'
import { guarded, type GuardedRoute } from './route.ts'
import { type AssertionType, readAssertionRequest } from '../schemas/assertion.ts'

/** `find`: computes the members of the result. `refuse`: a more specific problem than `service unavailable`. */
export function assertionRoute(
  dependencies: EdgeDependencies,
  operation: Operation,
  type: AssertionType,
  find: (assertions: AssertionSource) => Promise<JsonObject>,
  refuse: (error: AssertionUnavailable) => Problem | undefined = () => undefined,
): GuardedRoute {
  const signer: AssertionSigner = createAssertionSigner(dependencies)
  return {
    ...guarded(operation),
    async handle({ http }) {
      const body = await readJsonBody(http.req.raw)
      if (!body.ok) return body.error
      const requester = readAssertionRequest(body.value)
      if (!requester.ok) return invalidProblem('validation-error', requester.error)
      let members: JsonObject
      try {
        members = await find(dependencies.assertions)
      } catch (error) {
        const refused = error instanceof AssertionUnavailable ? refuse(error) : undefined
        if (refused === undefined) throw error
        return refused
      }
      return jsonReply(200, await signer.sign(type, requester.value, members))
    },
  }
}
