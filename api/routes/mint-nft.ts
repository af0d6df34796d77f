/** POST /v1/nft-classes/{classId}/instances: one signed mint, answered once it is durable (D11). */
import { accountAddress } from '../../actors/address.ts'
import type { JsonObject } from '../../actors/canonical-json.ts'
import { isClassId } from '../../actors/nft-id.ts'
import type { SchemaValidator, ValueVerdict } from '../../runtime/ports/schema-validator.ts'
import { readJsonBody } from '../body.ts'
import type { EdgeDependencies } from '../dependencies.ts'
import { type Invalid, invalidProblem, type Problem } from '../problem.ts'
import { type RefusedAnswer, refusalProblem, unavailableProblem } from '../refusals.ts'
import { jsonReply } from '../reply.ts'
import { type GuardedRoute, pathValue, SUBMITTERS } from '../route.ts'
import { mintErrors } from '../schemas/nft-mint.ts'
import { carriedSignature, repeatHeaders, signedPayload } from '../signed-body.ts'
import { unexpectedAnswer } from '../unexpected-answer.ts'
import { instanceMembers, noSuchClass } from '../nft-views.ts'

const NOT_SIGNED = ['signature']

/** What the schema says of the metadata; undefined where there is no such class to hold it against. */
type Judged = Exclude<ValueVerdict, { readonly kind: 'overloaded' }> | undefined

export function mintNft({ gateway, reads, schemas }: EdgeDependencies): GuardedRoute {
  return {
    access: 'token',
    method: 'POST',
    path: '/v1/nft-classes/:classId/instances',
    roles: SUBMITTERS,
    asksLedger: true,
    async handle(call) {
      const body = await readJsonBody(call.http.req.raw)
      if (!body.ok) return body.error
      const classId = pathValue(call, 'classId')
      const invalid = mintErrors(body.value, classId)
      if (invalid.length > 0) return invalidProblem('validation-error', invalid)
      if (!isClassId(classId)) return noSuchClass()
      const nftClass = await reads.nftClass(classId)
      const judged = nftClass && (await judge(schemas, nftClass.metadataSchema, body.value))
      if (judged?.kind === 'overloaded') return unavailableProblem('overloaded', 'not_applied')
      const { account_id: accountId, signature } = body.value as { account_id: string; signature: string }
      const outcome = await gateway.ask({
        actor: accountAddress(accountId),
        caller: call.caller,
        operation: {
          kind: 'mint',
          payload: signedPayload(body.value, NOT_SIGNED),
          signature: carriedSignature(signature),
          // What a class says never changes: this verdict is as good at its step as here.
          metadataVerdict: judged?.kind ?? 'unchecked',
        },
      })
      if (outcome.kind === 'unavailable') return unavailableProblem(outcome.reason, outcome.outcome)
      const { answer } = outcome
      if (answer.kind === 'refused') return refused(answer, judged)
      if (answer.kind !== 'minted') return unexpectedAnswer(answer)
      const { instance } = answer
      const location = `/v1/nft-classes/${instance.classId}/instances/${encodeURIComponent(instance.instanceId)}`
      return jsonReply(201, instanceMembers(instance), { location, ...repeatHeaders(answer) })
    },
  }
}

function judge(schemas: SchemaValidator, schema: JsonObject, body: JsonObject): Promise<ValueVerdict> {
  return schemas.validate(schema, body['metadata'] ?? null)
}

/** The ledger says that the metadata is wrong, and when it is time to say so; where it is wrong is known here. */
function refused(answer: RefusedAnswer, judged: Judged): Problem {
  if (answer.code !== 'metadata_invalid' || judged?.kind !== 'invalid') return refusalProblem(answer)
  const invalid = judged.errors.map(({ path, message }): Invalid => ({
    field: path === '' ? 'metadata' : `metadata${path.startsWith('[') ? '' : '.'}${path}`,
    code: 'ERR_INVALID_FIELD',
    message,
  }))
  return invalidProblem('validation-error', invalid)
}
