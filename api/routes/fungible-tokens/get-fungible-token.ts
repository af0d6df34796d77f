/** GET /v1/fungible-tokens/{id}: by exactly the symbol as it was registered (D1). */
import type { EdgeDependencies } from '../../http/dependencies.ts'
import { EVERYONE, guarded, type GuardedRoute, pathValue } from '../../endpoint/route.ts'
import { notFound } from '../../http/problem.ts'
import { jsonReply } from '../../http/reply.ts'
import { isTokenId } from '../../schemas/fields.ts'
import { tokenMembers } from '../../views/views.ts'
import { fungibleTokenResponse } from '../../schemas/responses/fungible-token.ts'
import type { Operation } from '../../endpoint/operation.ts'

export const GET_FUNGIBLE_TOKEN: Operation = {
  id: 'getFungibleToken',
  method: 'GET',
  path: '/v1/fungible-tokens/:tokenId',
  summary: 'Get a token',
  description: 'By exactly the symbol as it was registered.',
  roles: EVERYONE,
  answers: [{ status: 200, description: 'The token.', content: fungibleTokenResponse }],
}

export function getFungibleToken({ reads }: EdgeDependencies): GuardedRoute {
  return {
    ...guarded(GET_FUNGIBLE_TOKEN),
    async handle(call) {
      const tokenId = pathValue(call, 'tokenId')
      const token = isTokenId(tokenId) ? await reads.token(tokenId) : undefined
      return token === undefined ? notFound('There is no such token.') : jsonReply(200, tokenMembers(token))
    },
  }
}
