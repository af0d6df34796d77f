/** POST /v1/accounts/{id}/keys: another key for the account, signed by the one in force (D2). */
import { type Endpoint, pathValue, SUBMITTERS } from '../../endpoint/route.ts'
import { accountAddress } from '../../../actors/address.ts'
import { jsonReply } from '../../http/reply.ts'
import { readRotation, rotationSchema } from '../../schemas/requests/account.ts'
import { carriedSignature, repeatHeaders, signedPayload } from '../../http/signed-body.ts'
import { accountMembers } from '../../views/views.ts'
import { accountResponse } from '../../schemas/responses/account.ts'
import { bodyEndpoint } from '../../endpoint/body-endpoint.ts'
import { askLedger } from '../../endpoint/ask.ts'

export const rotateKey: Endpoint = {
  id: 'rotateKey',
  method: 'POST',
  path: '/v1/accounts/:accountId/keys',
  summary: 'Give an account another key',
  description: `Signed by the key in force now; \`proof\` is the new key’s signature over the same payload (the body without \`signature\` and \`proof\`), and is required in production. From the 201 on orders are signed with the new key.

The same \`idempotency_key\` again gets the first answer again. A repeat of an older order may still carry the signature of the key that was in force then.`,
  roles: SUBMITTERS,
  changes: 'shard',
  body: rotationSchema,
  answers: [
    {
      status: 201,
      description: 'The new key is in force.',
      content: accountResponse,
      headers: ['Idempotency-Replayed', 'Idempotency-Payload-Mismatch'],
    },
  ],
  refusals: {
    ERR_INVALID_ACCOUNT_ID: 'An account ID is missing, ill-formed, or not the one of the path.',
    ERR_CONFLICT: 'The account is frozen or closed.',
    ERR_FORBIDDEN: 'The role does not permit this, or the account has no key.',
    ERR_SIGNATURE_MISMATCH: '`signature` does not verify under the key in force, or `proof` under the new one.',
  },
  handle: bodyEndpoint({
    read: (body, { readPublicKey }, call) => readRotation(body, pathValue(call, 'accountId'), readPublicKey),
    run({ signature, proof }, context, call) {
      const payload = signedPayload(call.body, NOT_SIGNED)
      const request = {
        actor: accountAddress(pathValue(call, 'accountId')),
        operation: {
          kind: 'rotate_key',
          payload,
          signature: carriedSignature(signature),
          proof: proof === null ? null : carriedSignature(proof),
        },
        signed: { payload, signature, proof },
      } as const
      return askLedger(context, call, request, 'rotated', (answer) =>
        jsonReply(201, accountMembers(answer.account, context.jwkOf), repeatHeaders(answer)),
      )
    },
  }),
}

/** `proof` is the new key's signature over the same payload, so it is in neither. */
const NOT_SIGNED = ['signature', 'proof']
