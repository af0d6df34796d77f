/** POST /v1/attestations/{id}/revoke: takes an attestation back, once and for good (D13). */
import type { Caller } from '../../../actors/account/commands.ts'
import type { Attestation } from '../../../runtime/ports/attestation-store.ts'
import { type Endpoint, SUBMITTERS } from '../../endpoint/route.ts'
import { attestationMembers, type Revoked, sealAttestation } from '../../views/attestation-views.ts'
import { notFound, type Problem, problem } from '../../http/problem.ts'
import { jsonReply } from '../../http/reply.ts'
import { readRevocation, revocationSchema } from '../../schemas/requests/attestation.ts'
import { attestationResponse } from '../../schemas/responses/attestation.ts'
import { bodyEndpoint } from '../../endpoint/body-endpoint.ts'
import { findAttestation } from '../../endpoint/scoped-reads.ts'

export const revokeAttestation: Endpoint = {
  id: 'revokeAttestation',
  method: 'POST',
  path: '/v1/attestations/:attestationId/revoke',
  summary: 'Take an attestation back',
  description: 'By the client that submitted it, or an administrator; for good. Again, nothing new happens.',
  roles: SUBMITTERS,
  changes: 'store',
  administrative: [],
  body: revocationSchema,
  answers: [{ status: 200, description: 'The attestation, revoked.', content: attestationResponse }],
  refusals: { ERR_FORBIDDEN: 'The client is no administrator and did not submit it.' },
  handle: bodyEndpoint({
    read: (body) => readRevocation(body),
    async run(reason, context, call) {
      const { attestations, serviceKeys, clock } = context
      const attestation = await findAttestation(context, call)
      if (attestation === undefined) return noSuchAttestation()
      if (!mayRevoke(call.caller, attestation)) return notTheirs()
      if (attestation.revocation !== null) return jsonReply(200, attestationMembers(attestation))
      const revoked: Revoked = {
        // The clock of this edge may be behind the one that dated it.
        atMs: Math.max(clock.now(), attestation.createdAtMs),
        by: call.caller.clientId,
        reason,
      }
      const seal = await sealAttestation(serviceKeys, attestation, revoked)
      const now = await attestations.revoke(attestation.attestationId, { ...revoked, seal })
      return now === undefined ? noSuchAttestation() : jsonReply(200, attestationMembers(now))
    },
  }),
}

function mayRevoke(caller: Caller, { submittedBy }: Attestation): boolean {
  return caller.role === 'admin' || caller.clientId === submittedBy
}

function noSuchAttestation(): Problem {
  return notFound('There is no such attestation.')
}

function notTheirs(): Problem {
  return problem(
    'forbidden',
    'ERR_FORBIDDEN',
    'Only the client that submitted it, or one with the role admin, may revoke it.',
  )
}
