/** Responses about attestations (D13). */
import * as v from 'valibot'
import { attesterField } from '../fields.ts'
import { attestationId, classId, derSignature, instanceId, keyId, pageToken, text, timestamp } from './values.ts'

const statedEntries = {
  attestation_id: attestationId,
  attester: attesterField,
  subject_class: classId,
  subject_instance: instanceId,
  attestation_type: text,
  statement: text,
}

const statusEntries = {
  created_at: timestamp,
  status: v.picklist(['active', 'revoked']),
  submitted_by: text,
  attester_verified: v.boolean(),
  imported_at: v.exactOptional(timestamp),
  revoked_at: v.exactOptional(timestamp),
  revoked_by: v.exactOptional(text),
  revocation_reason: v.exactOptional(text),
}
const STATUS_RULE = 'has revoked_at and revoked_by if it is revoked'

const SEAL_RULE = 'has key_id and signature, or neither'

/** With the service's signature over all of it, unless the account of its attester was erased. */
export const attestationResponse = v.pipe(
  v.object({
    ...statedEntries,
    evidence_url: v.exactOptional(text),
    ...statusEntries,
    key_id: v.exactOptional(keyId),
    signature: v.exactOptional(derSignature),
  }),
  v.check((one) => isConsistent(one), STATUS_RULE),
  v.check(({ key_id: sealedBy, signature }) => (sealedBy === undefined) === (signature === undefined), SEAL_RULE),
)

export const listedAttestationResponse = v.pipe(
  v.object({ ...statedEntries, ...statusEntries }),
  v.check((one) => isConsistent(one), STATUS_RULE),
)

export const attestationListResponse = v.object({
  attestations: v.array(listedAttestationResponse),
  next_page_token: pageToken,
})

function isConsistent(attestation: {
  readonly status: 'active' | 'revoked'
  readonly revoked_at?: string
  readonly revoked_by?: string
}): boolean {
  const { revoked_at: revokedAt, revoked_by: revokedBy, status } = attestation
  return (status === 'revoked') === (revokedAt !== undefined) && (revokedAt !== undefined) === (revokedBy !== undefined)
}
