/** GET /v1/attestations/{id} (D13). */
import { attestationMembers } from '../attestation-views.ts'
import type { EdgeDependencies } from '../dependencies.ts'
import { notFound } from '../problem.ts'
import { jsonReply } from '../reply.ts'
import { EVERYONE, type GuardedRoute, pathValue } from '../route.ts'
import { seenAttestations, viewerOf } from '../scoped-reads.ts'

export function getAttestation({ attestations, reads }: EdgeDependencies): GuardedRoute {
  return {
    access: 'token',
    method: 'GET',
    path: '/v1/attestations/:attestationId',
    roles: EVERYONE,
    asksLedger: false,
    async handle(call) {
      const found = await attestations.attestation(pathValue(call, 'attestationId'))
      const [attestation] = await seenAttestations(reads, viewerOf(call), found === undefined ? [] : [found])
      if (attestation === undefined) return notFound('There is no such attestation.')
      return jsonReply(200, attestationMembers(attestation))
    },
  }
}
