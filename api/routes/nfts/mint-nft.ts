/** POST /v1/nft-classes/{classId}/instances: one signed mint, answered once it is durable (D11). */
import type { EdgeDependencies } from '../../http/dependencies.ts'
import type { GatewayOutcome, GatewayRequest } from '../../../runtime/edge/ledger-gateway.ts'
import type { JsonObject } from '../../../actors/canonical-json.ts'
import type { ClassView } from '../../../actors/nft-class/state.ts'
import type { SchemaValidator, ValueVerdict } from '../../../runtime/ports/schema-validator.ts'
import { accountAddress } from '../../../actors/address.ts'
import { carriedSignature, repeatHeaders, signedPayload } from '../../http/signed-body.ts'
import { jsonReply } from '../../http/reply.ts'
import { type Endpoint, type GuardedCall, pathValue, SUBMITTERS } from '../../endpoint/route.ts'
import { isClassId } from '../../../actors/nft-id.ts'
import { ok, refuse } from '../../../actors/result.ts'
import { type Invalid, invalidProblem, type Problem } from '../../http/problem.ts'
import { noSuchAccount, type RefusedAnswer, signedRefusal, unavailableProblem } from '../../endpoint/refusals.ts'
import { mintErrors, mintSchema } from '../../schemas/requests/nft-mint.ts'
import { unexpectedAnswer } from '../../endpoint/ask.ts'
import { instanceMembers, noSuchClass } from '../../views/nft-views.ts'
import { nftInstanceResponse } from '../../schemas/responses/nft.ts'
import { bodyEndpoint } from '../../endpoint/body-endpoint.ts'

export const mintNft: Endpoint = {
  id: 'mintNft',
  method: 'POST',
  path: '/v1/nft-classes/:classId/instances',
  summary: 'Mint an NFT',
  description: `Signed by the class’s issuer (\`account_id\`); the answer is a 201 once it is durable. An instance that exists, or ever existed, is a 409: an NFT is minted once.

The same \`idempotency_key\` again gets the first answer again; a refusal does not use the key up. Instances are transferred, exchanged and burned with POST /v1/transactions.`,
  roles: SUBMITTERS,
  changes: 'shard',
  body: mintSchema,
  answers: [
    {
      status: 201,
      description: 'The NFT is its owner’s.',
      content: nftInstanceResponse,
      headers: ['Location', 'Idempotency-Replayed', 'Idempotency-Payload-Mismatch'],
    },
  ],
  refusals: {
    ERR_NOT_FOUND: 'The class, the account or the owner does not exist.',
    ERR_CONFLICT: 'The instance exists or existed, the issuer is frozen, or the owner cannot take it in.',
    ERR_FORBIDDEN: 'The role does not permit this, or the account has no key.',
    ERR_SIGNATURE_MISMATCH: '',
    ERR_NOT_ISSUER: 'The account is not the issuer of the class.',
    ERR_WRONG_LEDGER: 'It was signed for another ledger; in production `ledger_id` is required.',
    ERR_INVALID_FIELD:
      'A field is missing or wrong, or the metadata does not satisfy the class’s schema: `errors` has the path of each fault.',
  },
  handle: bodyEndpoint({
    read(body, _, call) {
      const invalid = mintErrors(body, pathValue(call, 'classId'))
      return invalid.length > 0 ? refuse(invalid) : ok(orderOf(body))
    },
    find: ({ accountId }, { scope }) => (scope.includes(accountId) ? undefined : noSuchAccount()),
    async run(order, context, call) {
      const { gateway, isSignature, reads, schemas } = context
      const classId = pathValue(call, 'classId')
      if (!isClassId(classId)) return noSuchClass()
      const nftClass = await reads.nftClass(classId)
      let judged: Judged | Overloaded =
        nftClass !== undefined && (await isSigned(context, nftClass, order))
          ? await judge(schemas, nftClass, call.body)
          : undefined
      if (judged?.kind === 'overloaded') return unavailableProblem('overloaded', 'not_applied')
      let outcome = await gateway.ask(requestFor(order, judged, call))
      if (nftClass !== undefined && isUnchecked(outcome)) {
        // It was signed, by a key that came into force meanwhile.
        judged = await judge(schemas, nftClass, call.body)
        if (judged.kind === 'overloaded') return unavailableProblem('overloaded', 'not_applied')
        outcome = await gateway.ask(requestFor(order, judged, call))
      }
      if (outcome.kind === 'unavailable') return unavailableProblem(outcome.reason, outcome.outcome)
      const { answer } = outcome
      if (answer.kind === 'refused') return invalidMetadata(answer, judged) ?? signedRefusal(answer, order, isSignature)
      if (answer.kind !== 'minted') return unexpectedAnswer(answer)
      const { instance } = answer
      const location = `/v1/nft-classes/${instance.classId}/instances/${encodeURIComponent(instance.instanceId)}`
      return jsonReply(201, instanceMembers(instance), { location, ...repeatHeaders(answer) })
    },
  }),
}

const NOT_SIGNED = ['signature']

type Overloaded = Extract<ValueVerdict, { readonly kind: 'overloaded' }>
/** The verdict of the schema on the metadata; undefined: not validated. */
type Judged = Exclude<ValueVerdict, Overloaded> | undefined

interface Order {
  readonly accountId: string
  readonly payload: string
  readonly signature: string
}

/** Of a body without errors. */
function orderOf(body: JsonObject): Order {
  return {
    accountId: body['account_id'] as string,
    payload: signedPayload(body, NOT_SIGNED),
    signature: body['signature'] as string,
  }
}

/**
 * Validating metadata costs work: it is done only for the issuer of the class. The ledger refuses others in the order of D7,
 * and an issuer whose key changed meanwhile, unless the order is a replay.
 */
async function isSigned(
  { reads, signatures }: Pick<EdgeDependencies, 'reads' | 'signatures'>,
  { issuer }: ClassView,
  { accountId, payload, signature }: Order,
): Promise<boolean> {
  if (issuer !== accountId) return false
  const key = (await reads.account(accountId))?.key ?? null
  if (key === null) return false
  const [verified] = await signatures.verifyMany([{ publicKey: key.publicKey, payload, signature }])
  return verified === true
}

function requestFor(
  { accountId, payload, signature }: Order,
  judged: Judged,
  { caller, trail }: GuardedCall,
): GatewayRequest {
  return {
    actor: accountAddress(accountId),
    caller,
    trail,
    // The schema of a class never changes: the verdict is still right when the class steps.
    operation: {
      kind: 'mint',
      payload,
      signature: carriedSignature(signature),
      metadataVerdict: judged?.kind ?? 'unchecked',
    },
  }
}

function isUnchecked(outcome: GatewayOutcome): boolean {
  return (
    outcome.kind === 'answered' && outcome.answer.kind === 'refused' && outcome.answer.code === 'metadata_unchecked'
  )
}

function judge(schemas: SchemaValidator, { metadataSchema }: ClassView, body: JsonObject): Promise<ValueVerdict> {
  return schemas.validate(metadataSchema, body['metadata'] ?? null)
}

/** The ledger says that the metadata is wrong, and when it is time to say so; where it is wrong is known here. */
function invalidMetadata(answer: RefusedAnswer, judged: Judged): Problem | undefined {
  if (answer.code !== 'metadata_invalid' || judged?.kind !== 'invalid') return undefined
  const invalid = judged.errors.map(({ path, message }): Invalid => ({
    field: path === '' ? 'metadata' : `metadata${path.startsWith('[') ? '' : '.'}${path}`,
    code: 'ERR_INVALID_FIELD',
    message,
  }))
  return invalidProblem('validation-error', invalid)
}
