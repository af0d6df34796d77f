/** GET /v1/fungible-tokens/{id}: by exactly the symbol as it was registered (D1). */
import type { EdgeDependencies } from '../../http/dependencies.ts'
import { notFound } from '../../http/problem.ts'
import { jsonReply } from '../../http/reply.ts'
import { EVERYONE, type GuardedRoute, pathValue } from '../../endpoint/route.ts'
import { isTokenId } from '../../schemas/fields.ts'
import { tokenMembers } from '../../views/views.ts'

export function getFungibleToken({ reads }: EdgeDependencies): GuardedRoute {
  return {
    access: 'token',
    method: 'GET',
    path: '/v1/fungible-tokens/:tokenId',
    roles: EVERYONE,
    asksLedger: false,
    async handle(call) {
      const tokenId = pathValue(call, 'tokenId')
      const token = isTokenId(tokenId) ? await reads.token(tokenId) : undefined
      return token === undefined ? notFound('There is no such token.') : jsonReply(200, tokenMembers(token))
    },
  }
}
