/** The shapes of what is asked of attestations: submission and revocation (D13). */
import * as v from 'valibot'
import type { JsonObject } from '../../../actors/canonical-json.ts'
import { isAccountId, isPrintable } from '../../../actors/identifiers.ts'
import { ok, type Result } from '../../../actors/result.ts'
import type { Invalid } from '../../http/problem.ts'
import { signedPayload } from '../../http/signed-body.ts'
import {
  ACCOUNT_ID_RULE,
  attesterField,
  checkedField,
  codePoints,
  PRINTABLE,
  signatureField,
  textField,
  unsignedOptional,
} from '../fields.ts'
import { NULL_RULE } from '../../http/invalid.ts'
import { define } from '../named-schema.ts'
import { readBody, signableErrors } from '../read-body.ts'

const MAX_URL_LENGTH = 2_048
const URL_RULE = 'must be an absolute http, https, ipfs or ar URL of at most 2,048 characters, without credentials'
const URL_START = /^(?:https?|ipfs|ar):\/\/[^/?#]/i
/** Characters that URL parsers repair, each parser in its own way. */
const NOT_IN_A_URL = /[\s\\]/

const TYPE_RULE = 'must be 1 to 64 printable characters'
const typeField = v.pipe(
  textField(1, 64, TYPE_RULE),
  v.check(isPrintable, TYPE_RULE),
  v.metadata({ pattern: `^${PRINTABLE}+$` }),
)

export const attestationSchema = define('AttestationSubmission', 'A statement about an NFT.', {
  attester: [attesterField, 'The name of the attester: any printable name. Only an account can be verified.'],
  subject_class: [textField(1, 128, 'must be the ID of an NFT class'), 'The class of the NFT.'],
  subject_instance: [checkedField(ACCOUNT_ID_RULE, isAccountId), 'The NFT within its class.'],
  attestation_type: [typeField, 'The kind of statement.'],
  statement: [textField(1, 4_096), 'The statement, for people.'],
  evidence_url: [
    unsignedOptional(checkedField(URL_RULE, isEvidenceUrl, { maxLength: MAX_URL_LENGTH })),
    'Where the evidence is: http, https, ipfs or ar.',
  ],
  signature: [unsignedOptional(signatureField), 'The attester’s, over the body without `signature`.'],
})

export const revocationSchema = define('AttestationRevocation', 'Why a statement is taken back.', {
  reason: [unsignedOptional(textField(1, 1_024)), 'Why.'],
})

export interface AttestationSubmission {
  readonly attester: string
  readonly subjectClass: string
  readonly subjectInstance: string
  readonly attestationType: string
  readonly statement: string
  readonly evidenceUrl: string | null
  /** Of the attester; null where there is none. */
  readonly signature: string | null
  /** Canonical JSON of the body without the signature: what the signature is over. */
  readonly payload: string
}

export function readAttestation(body: JsonObject): Result<AttestationSubmission, readonly Invalid[]> {
  const invalid = signableErrors(attestationSchema, body)
  if ((body['signature'] ?? null) !== null && body['evidence_url'] === null) {
    invalid.push({ field: 'evidence_url', code: 'ERR_INVALID_FIELD', message: NULL_RULE })
  }
  const result = readBody(attestationSchema, body, invalid)
  if (!result.ok) return result
  const read = result.value
  return ok({
    attester: read.attester,
    subjectClass: read.subject_class,
    subjectInstance: read.subject_instance,
    attestationType: read.attestation_type,
    statement: read.statement,
    evidenceUrl: read.evidence_url ?? null,
    signature: read.signature ?? null,
    payload: signedPayload(body, read.evidence_url === null ? ['signature', 'evidence_url'] : ['signature']),
  })
}

/** The reason, or null where none is given. */
export function readRevocation(body: JsonObject): Result<string | null, readonly Invalid[]> {
  const read = readBody(revocationSchema, body)
  return read.ok ? ok(read.value.reason ?? null) : read
}

/** Stored as sent and never fetched here; a reader who fetches it must not find two interpretations. */
function isEvidenceUrl(text: string): boolean {
  if (codePoints(text) > MAX_URL_LENGTH || !URL_START.test(text)) return false
  if (NOT_IN_A_URL.test(text) || !isPrintable(text) || !URL.canParse(text)) return false
  const { username, password } = new URL(text)
  return username === '' && password === ''
}
