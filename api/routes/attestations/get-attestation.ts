/** GET /v1/attestations/{id} (D13). */
import { attestationMembers } from '../../views/attestation-views.ts'
import type { EdgeDependencies } from '../../http/dependencies.ts'
import { notFound } from '../../http/problem.ts'
import { jsonReply } from '../../http/reply.ts'
import { EVERYONE, type GuardedRoute, pathValue } from '../../endpoint/route.ts'
import { seenAttestations, viewerOf } from '../../endpoint/scoped-reads.ts'

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
