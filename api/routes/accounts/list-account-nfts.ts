/** GET /v1/accounts/{id}/nfts: what the account owns, by class and instance (D11, D16). */
import { accountRead } from '../../endpoint/path-values.ts'
import { ownedNftMembers } from '../../views/nft-views.ts'
import { listScope, nextPageToken, readPageRequest } from '../../endpoint/paging.ts'
import { noSuchAccount } from '../../endpoint/refusals.ts'
import { jsonReply } from '../../http/reply.ts'
import { type Endpoint, EVERYONE } from '../../endpoint/route.ts'
import { ownedNftListResponse } from '../../schemas/responses/nft.ts'
import { PAGING } from '../../endpoint/parameters.ts'

export const listAccountNfts: Endpoint = {
  id: 'listAccountNfts',
  method: 'GET',
  path: '/v1/accounts/:accountId/nfts',
  summary: 'List the NFTs of an account',
  description: 'The NFTs that the account owns, by class and instance. An NFT on hold still belongs to its sender.',
  roles: EVERYONE,
  parameters: PAGING,
  answers: [{ status: 200, description: 'One page.', content: ownedNftListResponse }],
  handle: accountRead(async (accountId, { reads, tokens }, call) => {
    const scope = listScope('/v1/accounts/nfts', call.caller.clientId, [accountId])
    const { query } = call
    const { limit, after } = readPageRequest(query, tokens, scope)
    const refused = query.problem()
    if (refused !== undefined) return refused
    const page = await reads.ownedNfts(accountId, after?.cursor ?? null, limit)
    if (page === undefined) return noSuchAccount()
    return jsonReply(200, {
      account_id: accountId,
      nfts: page.nfts.map(ownedNftMembers),
      next_page_token: nextPageToken(tokens, scope, page.next, null),
    })
  }),
}
