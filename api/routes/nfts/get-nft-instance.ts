/** GET /v1/nft-classes/{classId}/instances/{instanceId} (D11). */
import type { EdgeDependencies } from '../../http/dependencies.ts'
import { instanceMembers, noSuchInstance } from '../../views/nft-views.ts'
import { jsonReply } from '../../http/reply.ts'
import { EVERYONE, type GuardedRoute, pathValue } from '../../endpoint/route.ts'
import { seenInstance } from '../../endpoint/scoped-reads.ts'

export function getNftInstance({ reads }: EdgeDependencies): GuardedRoute {
  return {
    access: 'token',
    method: 'GET',
    path: '/v1/nft-classes/:classId/instances/:instanceId',
    roles: EVERYONE,
    asksLedger: false,
    async handle(call) {
      const name = { classId: pathValue(call, 'classId'), instanceId: pathValue(call, 'instanceId') }
      const instance = await seenInstance(reads, call.scope, name)
      return instance === undefined ? noSuchInstance() : jsonReply(200, instanceMembers(instance))
    },
  }
}
