/** GET /v1/fungible-tokens/{id}: by exactly the symbol as it was registered (D1). */
import { type Endpoint, EVERYONE, pathValue } from '../../endpoint/route.ts'
import { notFound } from '../../http/problem.ts'
import { jsonReply } from '../../http/reply.ts'
import { isTokenId } from '../../schemas/fields.ts'
import { tokenMembers } from '../../views/views.ts'
import { fungibleTokenResponse } from '../../schemas/responses/fungible-token.ts'

export const getFungibleToken: Endpoint = {
  id: 'getFungibleToken',
  method: 'GET',
  path: '/v1/fungible-tokens/:tokenId',
  summary: 'Get a token',
  description: 'By exactly the symbol as it was registered.',
  roles: EVERYONE,
  answers: [{ status: 200, description: 'The token.', content: fungibleTokenResponse }],
  async handle({ reads }, call) {
    const tokenId = pathValue(call, 'tokenId')
    const token = isTokenId(tokenId) ? await reads.token(tokenId) : undefined
    return token === undefined ? notFound('There is no such token.') : jsonReply(200, tokenMembers(token))
  },
}
