/** GET /v1/nft-classes: all registered classes by ID (D16). */
import { type Endpoint, EVERYONE } from '../../endpoint/route.ts'
import { listedClassMembers } from '../../views/nft-views.ts'
import { listReply } from '../../endpoint/paging.ts'
import { nftClassListResponse } from '../../schemas/responses/nft.ts'
import { PAGING } from '../../endpoint/parameters.ts'

export const listNftClasses: Endpoint = {
  id: 'listNftClasses',
  method: 'GET',
  path: '/v1/nft-classes',
  summary: 'List all NFT classes',
  description: 'By class ID, without descriptions and schemas.',
  roles: EVERYONE,
  parameters: PAGING,
  answers: [
    { status: 200, description: 'One page.', content: nftClassListResponse, headers: ['X-Total-Count-Relation'] },
  ],
  handle: (context, call) =>
    listReply(context, call, [], async ({ after, limit }) => {
      const { classes, next, count } = await context.reads.nftClasses(after, limit)
      return { members: { classes: classes.map(listedClassMembers) }, next, count }
    }),
}
