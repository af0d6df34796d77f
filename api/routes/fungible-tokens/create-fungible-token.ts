/** POST /v1/fungible-tokens: registers a token; its supply is its issuer's when the answer is given (D5). */
import { type Endpoint, SUBMITTERS } from '../../endpoint/route.ts'
import { tokenAddress } from '../../../actors/address.ts'
import { BASE_UNIT } from '../../../actors/money.ts'
import { problem, type Problem } from '../../http/problem.ts'
import { noSuchAccount } from '../../endpoint/refusals.ts'
import { jsonReply } from '../../http/reply.ts'
import { readTokenRegistration, tokenSchema } from '../../schemas/requests/fungible-token.ts'
import { carriedSignature, repeatHeaders } from '../../http/signed-body.ts'
import { tokenMembers } from '../../views/views.ts'
import { fungibleTokenResponse } from '../../schemas/responses/fungible-token.ts'
import { IDEMPOTENCY_KEY_HEADER } from '../../endpoint/parameters.ts'
import { bodyEndpoint } from '../../endpoint/body-endpoint.ts'
import { askLedger } from '../../endpoint/ask.ts'

export const createFungibleToken: Endpoint = {
  id: 'createFungibleToken',
  method: 'POST',
  path: '/v1/fungible-tokens',
  summary: 'Register a token',
  description: `The answer is a 201 once \`total_supply\` is credited to the issuer, as a \`mint\` of the ledger’s own; a supply of \`0\` credits nothing.

A symbol is unique without regard to case, and is its own \`token_id\`. An unknown issuer becomes an account without a key: it can receive, and cannot submit before its key is registered. In production the issuer signs the registration, or an administrator sends it.

With \`Idempotency-Key\`, a repeat gets the original answer; without, the symbol is taken (409).`,
  roles: SUBMITTERS,
  changes: 'shard',
  administrative: ['symbol', 'total_supply'],
  parameters: [IDEMPOTENCY_KEY_HEADER],
  body: tokenSchema,
  answers: [
    {
      status: 201,
      description: 'The token is registered, and its supply is its issuer’s.',
      content: fungibleTokenResponse,
      headers: ['Location', 'Idempotency-Replayed', 'Idempotency-Payload-Mismatch'],
    },
  ],
  refusals: {
    ERR_CONFLICT: 'The symbol is taken, or the issuer cannot take the supply in.',
    ERR_NOT_FOUND: 'The client is scoped to accounts, and the issuer is none of them.',
    ERR_SIGNATURE_MISMATCH: 'The signature is not the issuer’s, or is missing in production.',
    ERR_UNKNOWN_FIELD: 'A signed registration has an unknown field. Without a signature the field is ignored.',
  },
  handle: bodyEndpoint({
    read: (body) => readTokenRegistration(body),
    find: ({ issuer }, { scope }) => (scope.includes(issuer) ? undefined : noSuchAccount()),
    run(registration, context, call) {
      const { symbol, payload, signature } = registration
      if (symbol.toUpperCase() === BASE_UNIT) return baseUnitTaken()
      const request = {
        actor: tokenAddress(symbol),
        operation: {
          kind: 'register_token',
          payload,
          signature: signature === null ? null : carriedSignature(signature),
          registrationKey: call.registrationKey,
        },
        signed: registration,
      } as const
      return askLedger(context, call, request, 'token_registered', (answer) =>
        jsonReply(201, tokenMembers(answer.token), {
          location: `/v1/fungible-tokens/${encodeURIComponent(answer.token.tokenId)}`,
          ...repeatHeaders(answer),
        }),
      )
    },
  }),
}

/** Symbols are unique without regard to case (D1), and this one is taken from the start (D3). */
function baseUnitTaken(): Problem {
  const message = `${BASE_UNIT} is the ledger's own unit.`
  return problem('conflict', 'ERR_CONFLICT', message, [{ field: 'symbol', message }])
}
