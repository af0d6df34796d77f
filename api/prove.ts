/** What the three requests for an assertion share: anybody with a token may ask, the requester is signed with the findings. */
import type { JsonObject } from '../actors/canonical-json.ts'
import type { AssertionSource } from '../runtime/ports/assertion-source.ts'
import { type AssertionSigner, createAssertionSigner } from './assertion.ts'
import { readJsonBody } from './body.ts'
import type { EdgeDependencies } from './dependencies.ts'
import { invalidProblem } from './problem.ts'
import { jsonReply } from './reply.ts'
import { EVERYONE, type GuardedRoute } from './route.ts'
import { type AssertionType, readAssertionRequest } from './schemas/assertion.ts'

/** `find`: gives the members of the result. */
export function assertionRoute(
  dependencies: EdgeDependencies,
  type: AssertionType,
  find: (assertions: AssertionSource) => Promise<JsonObject>,
): GuardedRoute {
  const signer: AssertionSigner = createAssertionSigner(dependencies)
  return {
    access: 'token',
    method: 'POST',
    path: `/v1/assertions/${type}`,
    roles: EVERYONE,
    asksLedger: false,
    async handle({ http }) {
      const body = await readJsonBody(http.req.raw)
      if (!body.ok) return body.error
      const requester = readAssertionRequest(body.value)
      if (!requester.ok) return invalidProblem('validation-error', requester.error)
      const members = await find(dependencies.assertions)
      return jsonReply(200, await signer.sign(type, requester.value, members))
    },
  }
}
