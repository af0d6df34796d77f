/** GET /v1/attestations/{id} (D13). */
import { type Endpoint, EVERYONE } from '../../endpoint/route.ts'
import { attestationMembers } from '../../views/attestation-views.ts'
import { notFound } from '../../http/problem.ts'
import { jsonReply } from '../../http/reply.ts'
import { attestationResponse } from '../../schemas/responses/attestation.ts'
import { findAttestation } from '../../endpoint/scoped-reads.ts'

export const getAttestation: Endpoint = {
  id: 'getAttestation',
  method: 'GET',
  path: '/v1/attestations/:attestationId',
  summary: 'Get an attestation',
  description:
    'With the service’s signature over the canonical JSON of all members but `signature`; the key is in `/.well-known/jwks.json` under `key_id`. A revocation is signed again. Where the account of the attester was erased, `attester` is another name and no signature fits it: `signature` and `key_id` are left out.',
  roles: EVERYONE,
  answers: [{ status: 200, description: 'The attestation.', content: attestationResponse }],
  async handle(context, call) {
    const attestation = await findAttestation(context, call)
    if (attestation === undefined) return notFound('There is no such attestation.')
    return jsonReply(200, attestationMembers(attestation))
  },
}
