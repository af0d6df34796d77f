/** GET /v1/nft-classes/{classId}/instances: all that were minted, by ID, burned ones among them (D11, D16). */
import type { EdgeDependencies } from '../dependencies.ts'
import { listedInstanceMembers, noSuchClass } from '../nft-views.ts'
import type { PageTokens } from '../page-token.ts'
import { listScope, nextPageToken, readPageRequest } from '../paging.ts'
import { readQuery } from '../query.ts'
import { jsonReply } from '../reply.ts'
import { EVERYONE, type GuardedRoute, pathValue } from '../route.ts'

export function listNftInstances({ reads }: EdgeDependencies, tokens: PageTokens): GuardedRoute {
  return {
    access: 'token',
    method: 'GET',
    path: '/v1/nft-classes/:classId/instances',
    roles: EVERYONE,
    asksLedger: false,
    async handle(call) {
      const classId = pathValue(call, 'classId')
      const scope = listScope('/v1/nft-classes/instances', call.caller.clientId, [classId])
      const query = readQuery(call.http.req.url)
      const { limit, after } = readPageRequest(query, tokens, scope)
      const refused = query.problem()
      if (refused !== undefined) return refused
      const page = await reads.instances(classId, after?.cursor ?? null, limit)
      if (page === undefined) return noSuchClass()
      return jsonReply(200, {
        class_id: classId,
        instances: page.instances.map(listedInstanceMembers),
        next_page_token: nextPageToken(tokens, scope, page.next, null),
      })
    },
  }
}
