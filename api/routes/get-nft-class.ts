/** GET /v1/nft-classes/{id} (D11). */
import type { EdgeDependencies } from '../dependencies.ts'
import { classMembers, noSuchClass } from '../nft-views.ts'
import { jsonReply } from '../reply.ts'
import { EVERYONE, type GuardedRoute, pathValue } from '../route.ts'

export function getNftClass({ reads }: EdgeDependencies): GuardedRoute {
  return {
    access: 'token',
    method: 'GET',
    path: '/v1/nft-classes/:classId',
    roles: EVERYONE,
    asksLedger: false,
    async handle(call) {
      const nftClass = await reads.nftClass(pathValue(call, 'classId'))
      return nftClass === undefined ? noSuchClass() : jsonReply(200, classMembers(nftClass))
    },
  }
}
