/** POST /v1/nft-classes: registers an NFT class under a name of its own (D2, D11). */
import { type Endpoint, SUBMITTERS } from '../../endpoint/route.ts'
import { classAddress } from '../../../actors/address.ts'
import type { JsonObject } from '../../../actors/canonical-json.ts'
import type { SchemaValidator } from '../../../runtime/ports/schema-validator.ts'
import { invalidProblem, type Problem } from '../../http/problem.ts'
import { noSuchAccount, unavailableProblem } from '../../endpoint/refusals.ts'
import { jsonReply } from '../../http/reply.ts'
import { classSchema, readClassRegistration } from '../../schemas/requests/nft-class.ts'
import { carriedSignature, repeatHeaders } from '../../http/signed-body.ts'
import { classMembers } from '../../views/nft-views.ts'
import { nftClassResponse } from '../../schemas/responses/nft.ts'
import { IDEMPOTENCY_KEY_HEADER } from '../../endpoint/parameters.ts'
import { bodyEndpoint } from '../../endpoint/body-endpoint.ts'
import { askLedger } from '../../endpoint/ask.ts'

export const createNftClass: Endpoint = {
  id: 'createNftClass',
  method: 'POST',
  path: '/v1/nft-classes',
  summary: 'Register an NFT class',
  description: `A class has an issuer, who alone mints in it, and a JSON Schema (2020-12; draft-07 where \`$schema\` says so) that the metadata of every instance satisfies.

The name is unique after NFC and case folding. The schema is refused when it is not valid, too large or deep, has a remote \`$ref\`, dynamic references, \`$async\` or \`$data\`, or a pattern that a linear-time engine cannot run. An unknown issuer becomes an account without a key; in production the issuer signs, or an administrator sends the request.`,
  roles: SUBMITTERS,
  changes: 'shard',
  administrative: ['name'],
  parameters: [IDEMPOTENCY_KEY_HEADER],
  body: classSchema,
  answers: [
    {
      status: 201,
      description: 'The class is registered.',
      content: nftClassResponse,
      headers: ['Location', 'Idempotency-Replayed', 'Idempotency-Payload-Mismatch'],
    },
  ],
  refusals: {
    ERR_CONFLICT: 'The name is taken.',
    ERR_NOT_FOUND: 'The client is scoped to accounts, and the issuer is none of them.',
    ERR_SIGNATURE_MISMATCH: 'The signature is not the issuer’s, or is missing in production.',
    ERR_UNKNOWN_FIELD: 'A signed registration has an unknown field. Without a signature the field is ignored.',
  },
  handle: bodyEndpoint({
    read: (body) => readClassRegistration(body),
    find: ({ issuer }, { scope }) => (scope.includes(issuer) ? undefined : noSuchAccount()),
    async run(registration, context, call) {
      const { name, metadataSchema, payload, signature } = registration
      const unusable = await checkSchema(context.schemas, metadataSchema)
      if (unusable !== undefined) return unusable
      const request = {
        actor: classAddress(name),
        operation: {
          kind: 'register_class',
          payload,
          signature: signature === null ? null : carriedSignature(signature),
          registrationKey: call.registrationKey,
        },
        signed: registration,
      } as const
      return askLedger(context, call, request, 'class_registered', (answer) =>
        jsonReply(201, classMembers(answer.nftClass), {
          location: `/v1/nft-classes/${answer.nftClass.classId}`,
          ...repeatHeaders(answer),
        }),
      )
    },
  }),
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
