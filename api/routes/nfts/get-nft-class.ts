/** GET /v1/nft-classes/{id} (D11). */
import type { EdgeDependencies } from '../../http/dependencies.ts'
import { classMembers, noSuchClass } from '../../views/nft-views.ts'
import { jsonReply } from '../../http/reply.ts'
import { EVERYONE, type GuardedRoute, pathValue } from '../../endpoint/route.ts'

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
