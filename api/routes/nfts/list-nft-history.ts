/** GET /v1/nft-classes/{classId}/instances/{instanceId}/history: from the mint to the owner of now (D11, D16). */
import { nftNameOf } from '../../endpoint/path-values.ts'
import { type Endpoint, EVERYONE } from '../../endpoint/route.ts'
import { nftEventMembers, noSuchInstance } from '../../views/nft-views.ts'
import { listReply, numberAfter } from '../../endpoint/paging.ts'
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
  handle: (context, call) =>
    listReply(context, call, [], async ({ after, limit }) => {
      const name = nftNameOf(call)
      if (await isHidden(context.reads, call.scope, name)) return noSuchInstance()
      const page = await context.reads.nftHistory(name.classId, name.instanceId, numberAfter(after), limit)
      if (page === undefined) return noSuchInstance()
      const history = page.events.map(nftEventMembers)
      return { members: { class_id: name.classId, instance_id: name.instanceId, history }, next: page.next }
    }),
}
