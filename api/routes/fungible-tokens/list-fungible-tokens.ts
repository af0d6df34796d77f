/** GET /v1/fungible-tokens: all registered tokens by ID (D16). */
import { listReply } from '../../endpoint/paging.ts'
import { type Endpoint, EVERYONE } from '../../endpoint/route.ts'
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
  handle: (context, call) =>
    listReply(context, call, [], async ({ after, limit }) => {
      const { tokens, next, count } = await context.reads.tokens(after, limit)
      return { members: { tokens: tokens.map(tokenMembers) }, next, count }
    }),
}
