/** GET /v1/nft-classes/{id} (D11). */
import { type Endpoint, EVERYONE, pathValue } from '../../endpoint/route.ts'
import { classMembers, noSuchClass } from '../../views/nft-views.ts'
import { jsonReply } from '../../http/reply.ts'
import { nftClassResponse } from '../../schemas/responses/nft.ts'

export const getNftClass: Endpoint = {
  id: 'getNftClass',
  method: 'GET',
  path: '/v1/nft-classes/:classId',
  summary: 'Get an NFT class',
  description: 'With its description and the schema of its metadata.',
  roles: EVERYONE,
  answers: [{ status: 200, description: 'The class.', content: nftClassResponse }],
  async handle({ reads }, call) {
    const nftClass = await reads.nftClass(pathValue(call, 'classId'))
    return nftClass === undefined ? noSuchClass() : jsonReply(200, classMembers(nftClass))
  },
}
