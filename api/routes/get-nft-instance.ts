/** GET /v1/nft-classes/{classId}/instances/{instanceId} (D11). */
import type { EdgeDependencies } from '../dependencies.ts'
import { instanceMembers, noSuchInstance } from '../nft-views.ts'
import { jsonReply } from '../reply.ts'
import { EVERYONE, type GuardedRoute, pathValue } from '../route.ts'
import { seenInstance } from '../scoped-reads.ts'

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
