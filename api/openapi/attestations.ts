/** Attestations: what somebody states of an NFT (D13). */
import * as v from 'valibot'
import { EVERYONE, SUBMITTERS } from '../endpoint/route.ts'
import { attestationSchema, revocationSchema } from '../schemas/attestation.ts'
import {
  attestationListResponse,
  attestationResponse,
  listedAttestationResponse,
} from '../schemas/responses/attestation.ts'
import type { Operation, Parameter, Tag } from './model/operation.ts'
import { IDEMPOTENCY_KEY_HEADER, PAGING } from './parameters.ts'

export const createAttestation: Operation = {
  id: 'createAttestation',
  method: 'POST',
  path: '/v1/attestations',
  summary: 'State something of an NFT',
  description: `The statement is made in the name of \`attester\`, which need not be an account. With a \`signature\` by the key of the account \`attester\`, over the canonical JSON of the body without it, \`attester_verified\` is true; a signature that does not verify is a 403. The service signs what it stores.

\`evidence_url\` is stored unchanged and never fetched. **Only the header \`Idempotency-Key\` makes a repeated submission idempotent**: without it, each request creates another attestation.`,
  roles: SUBMITTERS,
  changes: 'store',
  parameters: [IDEMPOTENCY_KEY_HEADER],
  body: attestationSchema,
  answers: [
    {
      status: 201,
      description: 'It is stored.',
      content: attestationResponse,
      headers: ['Location', 'Idempotency-Replayed', 'Idempotency-Payload-Mismatch'],
    },
  ],
  refusals: {
    ERR_NOT_FOUND:
      'The class or the NFT does not exist, or the client is scoped to accounts and the attester is an account ID outside them; `errors` names the field.',
    ERR_SIGNATURE_MISMATCH: 'The signature is not one by the key of the account `attester`.',
    ERR_UNKNOWN_FIELD: 'A signed attestation has a field that nobody knows; without a signature it is ignored.',
  },
}

function filter(name: string, description: string): Parameter {
  return { name, in: 'query', description, schema: v.string() }
}

export const listAttestations: Operation = {
  id: 'listAttestations',
  method: 'GET',
  path: '/v1/attestations',
  summary: 'List attestations',
  description:
    'Newest first, with every filter applied together, without `evidence_url` and signature. A filter that nothing meets finds nothing. A page may hold fewer rows than asked for, even none, while `next_page_token` is not empty.',
  roles: EVERYONE,
  parameters: [
    filter('subject_class', 'Of the class with this ID.'),
    filter('subject_instance', 'Of the instance with this ID.'),
    filter('asset_class', 'Of the class with this ID or name.'),
    filter('source', 'By this attester.'),
    filter('status', '`active` or `revoked`.'),
    ...PAGING,
  ],
  answers: [{ status: 200, description: 'One page.', content: attestationListResponse }],
}

export const getAttestation: Operation = {
  id: 'getAttestation',
  method: 'GET',
  path: '/v1/attestations/:attestationId',
  summary: 'Get an attestation',
  description:
    'With the service’s signature over the canonical JSON of all members but `signature`; the key stands in `/.well-known/jwks.json` under `key_id`. A revoked one is signed again, as it is then. Where the account of the attester was erased, `attester` is another name and no signature fits it: `signature` and `key_id` are left out.',
  roles: EVERYONE,
  answers: [{ status: 200, description: 'The attestation.', content: attestationResponse }],
}

export const revokeAttestation: Operation = {
  id: 'revokeAttestation',
  method: 'POST',
  path: '/v1/attestations/:attestationId/revoke',
  summary: 'Take an attestation back',
  description: 'By the client that submitted it, or an administrator; for good. Again, nothing new happens.',
  roles: SUBMITTERS,
  changes: 'store',
  body: revocationSchema,
  answers: [{ status: 200, description: 'The attestation, revoked.', content: attestationResponse }],
  refusals: { ERR_FORBIDDEN: 'The client is no administrator and did not submit it.' },
}

const STATED_FIELDS = {
  attester: 'The name of the attester: any printable name. Only an account can be verified.',
  subject_class: 'The class of the NFT.',
  subject_instance: 'The NFT within its class.',
  attestation_type: 'What kind of statement it is.',
  statement: 'What is stated, for people.',
}
const STATUS_FIELDS = {
  attestation_id: 'The attestation.',
  status: 'Whether it still stands.',
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
  operations: [createAttestation, listAttestations, getAttestation, revokeAttestation],
}
