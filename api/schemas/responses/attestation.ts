/** Responses about attestations (D13). */
import * as v from 'valibot'
import { attesterField } from '../fields.ts'
import { attestationId, classId, derSignature, instanceId, keyId, pageToken, text, timestamp } from '../values.ts'
import { define, withRule } from '../named-schema.ts'

const statedFields = {
  attestation_id: [attestationId, 'The attestation.'],
  attester: [attesterField, 'The name of the attester: any printable name. Only an account can be verified.'],
  subject_class: [classId, 'The class of the NFT.'],
  subject_instance: [instanceId, 'The NFT within its class.'],
  attestation_type: [text, 'The kind of statement.'],
  statement: [text, 'The statement, for people.'],
} as const

const statusFields = {
  created_at: timestamp,
  status: [v.picklist(['active', 'revoked']), '`active` or `revoked`.'],
  submitted_by: [text, 'The client that submitted it; `import`, a space and the ID of a ledger: it came from there.'],
  attester_verified: [v.boolean(), 'Whether the key of the account `attester` signed it.'],
  imported_at: [v.exactOptional(timestamp), 'When it came from another ledger; since then this one vouches for it.'],
  revoked_at: [v.exactOptional(timestamp), 'When it was taken back.'],
  revoked_by: [v.exactOptional(text), 'The client that took it back.'],
  revocation_reason: [v.exactOptional(text), 'Why.'],
} as const
const STATUS_RULE = 'has revoked_at and revoked_by if it is revoked'

/** With the service's signature over all of it, unless the account of its attester was erased. */
const oneAttestation = define('Attestation', 'A statement about an NFT.', {
  ...statedFields,
  evidence_url: [v.exactOptional(text), 'Where the evidence is: http, https, ipfs or ar.'],
  ...statusFields,
  key_id: [
    v.exactOptional(keyId),
    'The key of the service that signs; left out where the account of the attester was erased.',
  ],
  signature: [
    v.exactOptional(derSignature),
    'The service’s, over all other members; left out where the account of the attester was erased.',
  ],
})
export const attestationResponse = withRule(
  withRule(oneAttestation, isConsistent, STATUS_RULE),
  ({ key_id: sealedBy, signature }) => (sealedBy === undefined) === (signature === undefined),
  'has key_id and signature, or neither',
)

export const listedAttestationResponse = withRule(
  define('AttestationSummary', 'A statement about an NFT, as lists show it.', {
    ...statedFields,
    ...statusFields,
  }),
  isConsistent,
  STATUS_RULE,
)

export const attestationListResponse = define('AttestationList', 'One page of attestations.', {
  attestations: [v.array(listedAttestationResponse), 'The attestations of this page.'],
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
