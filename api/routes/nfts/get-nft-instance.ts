/** GET /v1/nft-classes/{classId}/instances/{instanceId} (D11). */
import { type Endpoint, EVERYONE, pathValue } from '../../endpoint/route.ts'
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
    const name = { classId: pathValue(call, 'classId'), instanceId: pathValue(call, 'instanceId') }
    const instance = await seenInstance(reads, call.scope, name)
    return instance === undefined ? noSuchInstance() : jsonReply(200, instanceMembers(instance))
  },
}
