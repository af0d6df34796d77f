/** GET /v1/attestations/{id} (D13). */
import { type Endpoint, EVERYONE, pathValue } from '../../endpoint/route.ts'
import { attestationMembers } from '../../views/attestation-views.ts'
import { notFound } from '../../http/problem.ts'
import { jsonReply } from '../../http/reply.ts'
import { seenAttestations, viewerOf } from '../../endpoint/scoped-reads.ts'
import { attestationResponse } from '../../schemas/responses/attestation.ts'

export const getAttestation: Endpoint = {
  id: 'getAttestation',
  method: 'GET',
  path: '/v1/attestations/:attestationId',
  summary: 'Get an attestation',
  description:
    'With the service’s signature over the canonical JSON of all members but `signature`; the key is in `/.well-known/jwks.json` under `key_id`. A revocation is signed again. Where the account of the attester was erased, `attester` is another name and no signature fits it: `signature` and `key_id` are left out.',
  roles: EVERYONE,
  answers: [{ status: 200, description: 'The attestation.', content: attestationResponse }],
  async handle({ attestations, reads }, call) {
    const found = await attestations.attestation(pathValue(call, 'attestationId'))
    const [attestation] = await seenAttestations(reads, viewerOf(call), found === undefined ? [] : [found])
    if (attestation === undefined) return notFound('There is no such attestation.')
    return jsonReply(200, attestationMembers(attestation))
  },
}
