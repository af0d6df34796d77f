/** GET /v1/nft-classes/{classId}/instances/{instanceId} (D11). */
import { nftNameOf } from '../../endpoint/path-values.ts'
import { type Endpoint, EVERYONE } from '../../endpoint/route.ts'
import { instanceMembers, noSuchInstance } from '../../views/nft-views.ts'
import { jsonReply } from '../../http/reply.ts'
import { seenInstance } from '../../endpoint/scoped-reads.ts'
import { nftInstanceResponse } from '../../schemas/responses/nft.ts'

export const getNftInstance: Endpoint = {
  id: 'getNftInstance',
  method: 'GET',
  path: '/v1/nft-classes/:classId/instances/:instanceId',
  summary: 'Get an NFT',
  description: 'One that is burned stays readable, with its last owner.',
  roles: EVERYONE,
  answers: [{ status: 200, description: 'The NFT.', content: nftInstanceResponse }],
  async handle({ reads }, call) {
    const instance = await seenInstance(reads, call.scope, nftNameOf(call))
    return instance === undefined ? noSuchInstance() : jsonReply(200, instanceMembers(instance))
  },
}
