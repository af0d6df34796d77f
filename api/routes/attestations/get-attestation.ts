/** GET /v1/attestations/{id} (D13). */
import { EVERYONE, guarded, type GuardedRoute, pathValue } from '../../endpoint/route.ts'
import { attestationMembers } from '../../views/attestation-views.ts'
import type { EdgeDependencies } from '../../http/dependencies.ts'
import { notFound } from '../../http/problem.ts'
import { jsonReply } from '../../http/reply.ts'
import { seenAttestations, viewerOf } from '../../endpoint/scoped-reads.ts'
import { attestationResponse } from '../../schemas/responses/attestation.ts'
import type { Operation } from '../../endpoint/operation.ts'

export const GET_ATTESTATION: Operation = {
  id: 'getAttestation',
  method: 'GET',
  path: '/v1/attestations/:attestationId',
  summary: 'Get an attestation',
  description:
    'With the service’s signature over the canonical JSON of all members but `signature`; the key is in `/.well-known/jwks.json` under `key_id`. A revocation is signed again. Where the account of the attester was erased, `attester` is another name and no signature fits it: `signature` and `key_id` are left out.',
  roles: EVERYONE,
  answers: [{ status: 200, description: 'The attestation.', content: attestationResponse }],
}

export function getAttestation({ attestations, reads }: EdgeDependencies): GuardedRoute {
  return {
    ...guarded(GET_ATTESTATION),
    async handle(call) {
      const found = await attestations.attestation(pathValue(call, 'attestationId'))
      const [attestation] = await seenAttestations(reads, viewerOf(call), found === undefined ? [] : [found])
      if (attestation === undefined) return notFound('There is no such attestation.')
      return jsonReply(200, attestationMembers(attestation))
    },
  }
}
