/** GET /v1/accounts/{id}/nfts: what the account owns, by class and instance (D11, D16). */
import { accountRead } from '../../endpoint/path-values.ts'
import { ownedNftMembers } from '../../views/nft-views.ts'
import { listReply } from '../../endpoint/paging.ts'
import { noSuchAccount } from '../../endpoint/refusals.ts'
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
  handle: accountRead((accountId, context, call) =>
    listReply(context, call, [], async ({ after, limit }) => {
      const page = await context.reads.ownedNfts(accountId, after, limit)
      if (page === undefined) return noSuchAccount()
      return { members: { account_id: accountId, nfts: page.nfts.map(ownedNftMembers) }, next: page.next }
    }),
  ),
}
