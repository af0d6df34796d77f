/** GET /v1/nft-classes: all registered classes by ID (D16). */
import { type Endpoint, EVERYONE } from '../../endpoint/route.ts'
import { listedClassMembers } from '../../views/nft-views.ts'
import {
  countHeaders,
  countMembers,
  countOfList,
  listScope,
  nextPageToken,
  readPageRequest,
} from '../../endpoint/paging.ts'
import { jsonReply } from '../../http/reply.ts'
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
  async handle({ reads, tokens }, { caller, query }) {
    const scope = listScope('/v1/nft-classes', caller.clientId)
    const { limit, after } = readPageRequest(query, tokens, scope)
    const refused = query.problem()
    if (refused !== undefined) return refused
    const page = await reads.nftClasses(after?.cursor ?? null, limit)
    const count = countOfList(after, page.count)
    return jsonReply(
      200,
      {
        classes: page.classes.map(listedClassMembers),
        next_page_token: nextPageToken(tokens, scope, page.next, count),
        ...countMembers(count),
      },
      countHeaders(count),
    )
  },
}
