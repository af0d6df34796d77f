/** POST /v1/nft-classes: registers an NFT class under a name of its own (D2, D11). */
import { classAddress } from '../../actors/address.ts'
import type { JsonObject } from '../../actors/canonical-json.ts'
import type { SchemaValidator } from '../../runtime/ports/schema-validator.ts'
import { readJsonBody } from '../body.ts'
import type { EdgeDependencies } from '../dependencies.ts'
import { invalidProblem, type Problem } from '../problem.ts'
import { noSuchAccount, refusalProblem, unavailableProblem } from '../refusals.ts'
import { readRegistrationKey } from '../registration-key.ts'
import { jsonReply } from '../reply.ts'
import { type GuardedRoute, SUBMITTERS } from '../route.ts'
import { readClassRegistration } from '../schemas/nft-class.ts'
import { carriedSignature, repeatHeaders } from '../signed-body.ts'
import { unexpectedAnswer } from '../unexpected-answer.ts'
import { classMembers } from '../nft-views.ts'

export function createNftClass({ gateway, schemas }: EdgeDependencies): GuardedRoute {
  return {
    access: 'token',
    method: 'POST',
    path: '/v1/nft-classes',
    roles: SUBMITTERS,
    asksLedger: true,
    async handle({ http, caller, scope, trail }) {
      const body = await readJsonBody(http.req.raw)
      if (!body.ok) return body.error
      const { registrationKey, keyErrors } = readRegistrationKey(http)
      const registration = readClassRegistration(body.value)
      const invalid = [...keyErrors, ...(registration.ok ? [] : registration.error)]
      if (!registration.ok || invalid.length > 0) return invalidProblem('validation-error', invalid)
      const { name, issuer, metadataSchema, payload, signature } = registration.value
      if (!scope.includes(issuer)) return noSuchAccount()
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
      if (answer.kind === 'refused') return refusalProblem(answer)
      if (answer.kind !== 'class_registered') return unexpectedAnswer(answer)
      return jsonReply(201, classMembers(answer.nftClass), {
        location: `/v1/nft-classes/${answer.nftClass.classId}`,
        ...repeatHeaders(answer),
      })
    },
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
