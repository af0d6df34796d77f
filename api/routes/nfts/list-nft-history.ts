/** GET /v1/nft-classes/{classId}/instances/{instanceId}/history: from the mint to the owner of now (D11, D16). */
import { type Endpoint, EVERYONE, pathValue } from '../../endpoint/route.ts'
import { nftEventMembers, noSuchInstance } from '../../views/nft-views.ts'
import { listScope, nextPageToken, readPageRequest } from '../../endpoint/paging.ts'
import { jsonReply } from '../../http/reply.ts'
import { isHidden } from '../../endpoint/scoped-reads.ts'
import { ownershipHistoryResponse } from '../../schemas/responses/nft.ts'
import { PAGING } from '../../endpoint/parameters.ts'

export const listNftHistory: Endpoint = {
  id: 'listNftHistory',
  method: 'GET',
  path: '/v1/nft-classes/:classId/instances/:instanceId/history',
  summary: 'List the owners of an NFT',
  description: 'From the mint to the owner of now, or to the burn.',
  roles: EVERYONE,
  parameters: PAGING,
  answers: [{ status: 200, description: 'One page.', content: ownershipHistoryResponse }],
  async handle({ reads, tokens }, call) {
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

const BEFORE_ALL = -1
