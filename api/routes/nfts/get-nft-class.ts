/** GET /v1/nft-classes/{id} (D11). */
import type { EdgeDependencies } from '../../http/dependencies.ts'
import { EVERYONE, guarded, type GuardedRoute, pathValue } from '../../endpoint/route.ts'
import { classMembers, noSuchClass } from '../../views/nft-views.ts'
import { jsonReply } from '../../http/reply.ts'
import { nftClassResponse } from '../../schemas/responses/nft.ts'
import type { Operation } from '../../endpoint/operation.ts'

export const GET_NFT_CLASS: Operation = {
  id: 'getNftClass',
  method: 'GET',
  path: '/v1/nft-classes/:classId',
  summary: 'Get an NFT class',
  description: 'With its description and the schema of its metadata.',
  roles: EVERYONE,
  answers: [{ status: 200, description: 'The class.', content: nftClassResponse }],
}

export function getNftClass({ reads }: EdgeDependencies): GuardedRoute {
  return {
    ...guarded(GET_NFT_CLASS),
    async handle(call) {
      const nftClass = await reads.nftClass(pathValue(call, 'classId'))
      return nftClass === undefined ? noSuchClass() : jsonReply(200, classMembers(nftClass))
    },
  }
}
