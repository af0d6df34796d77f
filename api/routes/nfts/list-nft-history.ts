/** GET /v1/nft-classes/{classId}/instances/{instanceId}/history: from the mint to the owner of now (D11, D16). */
import type { EdgeDependencies } from '../../http/dependencies.ts'
import { nftEventMembers, noSuchInstance } from '../../views/nft-views.ts'
import type { PageTokens } from '../../http/page-token.ts'
import { listScope, nextPageToken, PAGE_PARAMETERS, readPageRequest } from '../../endpoint/paging.ts'
import { jsonReply } from '../../http/reply.ts'
import { EVERYONE, type GuardedRoute, pathValue } from '../../endpoint/route.ts'
import { isHidden } from '../../endpoint/scoped-reads.ts'

const BEFORE_ALL = -1

export function listNftHistory({ reads }: EdgeDependencies, tokens: PageTokens): GuardedRoute {
  return {
    access: 'token',
    method: 'GET',
    path: '/v1/nft-classes/:classId/instances/:instanceId/history',
    query: PAGE_PARAMETERS,
    roles: EVERYONE,
    asksLedger: false,
    async handle(call) {
      const classId = pathValue(call, 'classId')
      const instanceId = pathValue(call, 'instanceId')
      const scope = listScope('/v1/nft-classes/instances/history', call.caller.clientId, [classId, instanceId])
      const { query } = call
      const { limit, after } = readPageRequest(query, tokens, scope)
      const refused = query.problem()
      if (refused !== undefined) return refused
      if (await isHidden(reads, call.scope, { classId, instanceId })) return noSuchInstance()
      const afterNumber = after === null ? BEFORE_ALL : Number(after.cursor)
      const page = await reads.nftHistory(classId, instanceId, afterNumber, limit)
      if (page === undefined) return noSuchInstance()
      return jsonReply(200, {
        class_id: classId,
        instance_id: instanceId,
        history: page.events.map(nftEventMembers),
        next_page_token: nextPageToken(tokens, scope, page.next === null ? null : String(page.next), null),
      })
    },
  }
}
