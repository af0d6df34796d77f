/** GET /v1/fungible-tokens: all registered tokens by ID (D16). */
import {
  countHeaders,
  countMembers,
  countOfList,
  listScope,
  nextPageToken,
  readPageRequest,
} from '../../endpoint/paging.ts'
import { type Endpoint, EVERYONE } from '../../endpoint/route.ts'
import { jsonReply } from '../../http/reply.ts'
import { tokenMembers } from '../../views/views.ts'
import { fungibleTokenListResponse } from '../../schemas/responses/fungible-token.ts'
import { PAGING } from '../../endpoint/parameters.ts'

export const listFungibleTokens: Endpoint = {
  id: 'listFungibleTokens',
  method: 'GET',
  path: '/v1/fungible-tokens',
  summary: 'List all tokens',
  description: 'By token ID, without regard to case. The ledger’s own unit, `BASE`, is not among them.',
  roles: EVERYONE,
  parameters: PAGING,
  answers: [
    { status: 200, description: 'One page.', content: fungibleTokenListResponse, headers: ['X-Total-Count-Relation'] },
  ],
  async handle({ reads, tokens }, { caller, query }) {
    const scope = listScope('/v1/fungible-tokens', caller.clientId)
    const { limit, after } = readPageRequest(query, tokens, scope)
    const refused = query.problem()
    if (refused !== undefined) return refused
    const page = await reads.tokens(after?.cursor ?? null, limit)
    const count = countOfList(after, page.count)
    return jsonReply(
      200,
      {
        tokens: page.tokens.map(tokenMembers),
        next_page_token: nextPageToken(tokens, scope, page.next, count),
        ...countMembers(count),
      },
      countHeaders(count),
    )
  },
}
