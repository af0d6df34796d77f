/** POST /v1/nft-classes: registers an NFT class under a name of its own (D2, D11). */
import { classAddress } from '../../../actors/address.ts'
import type { JsonObject } from '../../../actors/canonical-json.ts'
import type { SchemaValidator } from '../../../runtime/ports/schema-validator.ts'
import type { EdgeDependencies } from '../../http/dependencies.ts'
import { idempotent } from '../../endpoint/idempotent-endpoint.ts'
import { invalidProblem, type Problem } from '../../http/problem.ts'
import { noSuchAccount, signedRefusal, unavailableProblem } from '../../endpoint/refusals.ts'
import { jsonReply } from '../../http/reply.ts'
import { type GuardedRoute, SUBMITTERS } from '../../endpoint/route.ts'
import { readClassRegistration } from '../../schemas/nft-class.ts'
import { carriedSignature, repeatHeaders } from '../../http/signed-body.ts'
import { unexpectedAnswer } from '../../endpoint/unexpected-answer.ts'
import { classMembers } from '../../views/nft-views.ts'

export function createNftClass(dependencies: EdgeDependencies): GuardedRoute {
  const { gateway, isSignature, schemas } = dependencies
  return {
    access: 'token',
    method: 'POST',
    path: '/v1/nft-classes',
    roles: SUBMITTERS,
    asksLedger: true,
    handle: idempotent(dependencies, {
      read: readClassRegistration,
      find: ({ issuer }, { scope }) => (scope.includes(issuer) ? undefined : noSuchAccount()),
      async run(registration, { caller, trail }, registrationKey) {
        const { name, metadataSchema, payload, signature } = registration
        const unusable = await checkSchema(schemas, metadataSchema)
        if (unusable !== undefined) return unusable
        const outcome = await gateway.ask({
          actor: classAddress(name),
          caller,
          trail,
          operation: {
            kind: 'register_class',
            payload,
            signature: signature === null ? null : carriedSignature(signature),
            registrationKey,
          },
        })
        if (outcome.kind === 'unavailable') return unavailableProblem(outcome.reason, outcome.outcome)
        const { answer } = outcome
        if (answer.kind === 'refused') return signedRefusal(answer, registration, isSignature)
        if (answer.kind !== 'class_registered') return unexpectedAnswer(answer)
        return jsonReply(201, classMembers(answer.nftClass), {
          location: `/v1/nft-classes/${answer.nftClass.classId}`,
          ...repeatHeaders(answer),
        })
      },
    }),
  }
}

async function checkSchema(schemas: SchemaValidator, schema: JsonObject): Promise<Problem | undefined> {
  const verdict = await schemas.check(schema)
  switch (verdict.kind) {
    case 'valid':
      return undefined
    case 'invalid':
      return invalidProblem('validation-error', [
        { field: 'metadata_schema', code: 'ERR_INVALID_SCHEMA', message: verdict.reason },
      ])
    case 'overloaded':
      return unavailableProblem('overloaded', 'not_applied')
  }
}
