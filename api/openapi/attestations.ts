/** Attestations: statements about an NFT (D13). */
import { attestationSchema, revocationSchema } from '../schemas/attestation.ts'
import {
  attestationListResponse,
  attestationResponse,
  listedAttestationResponse,
} from '../schemas/responses/attestation.ts'
import type { Tag } from '../endpoint/operation.ts'
import { CREATE_ATTESTATION } from '../routes/attestations/create-attestation.ts'
import { GET_ATTESTATION } from '../routes/attestations/get-attestation.ts'
import { LIST_ATTESTATIONS } from '../routes/attestations/list-attestations.ts'
import { REVOKE_ATTESTATION } from '../routes/attestations/revoke-attestation.ts'

const STATED_FIELDS = {
  attester: 'The name of the attester: any printable name. Only an account can be verified.',
  subject_class: 'The class of the NFT.',
  subject_instance: 'The NFT within its class.',
  attestation_type: 'The kind of statement.',
  statement: 'The statement, for people.',
}
const STATUS_FIELDS = {
  attestation_id: 'The attestation.',
  status: '`active` or `revoked`.',
  submitted_by: 'The client that submitted it; `import`, a space and the ID of a ledger: it came from there.',
  attester_verified: 'Whether the key of the account `attester` signed it.',
  imported_at: 'When it came from another ledger; since then this one vouches for it.',
  revoked_at: 'When it was taken back.',
  revoked_by: 'The client that took it back.',
  revocation_reason: 'Why.',
}
const EVIDENCE = { evidence_url: 'Where the evidence is: http, https, ipfs or ar.' }

export const ATTESTATIONS: Tag = {
  name: 'Attestations',
  description: 'Signed, human-readable statements about NFTs.',
  schemas: {
    AttestationSubmission: {
      schema: attestationSchema,
      description: 'A statement about an NFT.',
      fields: { ...STATED_FIELDS, ...EVIDENCE, signature: 'The attester’s, over the body without `signature`.' },
    },
    AttestationRevocation: {
      schema: revocationSchema,
      description: 'Why a statement is taken back.',
      fields: { reason: 'Why.' },
    },
    Attestation: {
      schema: attestationResponse,
      description: 'A statement about an NFT.',
      fields: {
        ...STATED_FIELDS,
        ...EVIDENCE,
        ...STATUS_FIELDS,
        key_id: 'The key of the service that signs; left out where the account of the attester was erased.',
        signature: 'The service’s, over all other members; left out where the account of the attester was erased.',
      },
    },
    AttestationSummary: {
      schema: listedAttestationResponse,
      description: 'A statement about an NFT, as lists show it.',
      fields: { ...STATED_FIELDS, ...STATUS_FIELDS },
    },
    AttestationList: {
      schema: attestationListResponse,
      description: 'One page of attestations.',
      fields: { attestations: 'The attestations of this page.' },
    },
  },
  operations: [CREATE_ATTESTATION, LIST_ATTESTATIONS, GET_ATTESTATION, REVOKE_ATTESTATION],
}
