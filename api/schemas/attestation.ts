/** The shapes of what is asked of attestations: submission and revocation (D13). */
import * as v from 'valibot'
import type { JsonObject } from '../../actors/canonical-json.ts'
import { isAccountId, isPrintable } from '../../actors/identifiers.ts'
import { ok, refuse, type Result } from '../../actors/result.ts'
import type { Invalid } from '../http/problem.ts'
import { signedPayload } from '../http/signed-body.ts'
import { ACCOUNT_ID_RULE, attesterField, codePoints, PRINTABLE, signatureField, unsignedOptional } from './fields.ts'
import { NULL_RULE, objectMessage, schemaErrors, unknownFields } from '../http/invalid.ts'

const MAX_CLASS_ID_LENGTH = 128
const CLASS_RULE = 'must be the ID of an NFT class'

const MAX_TYPE_LENGTH = 64
const TYPE_RULE = 'must be 1 to 64 printable characters'

const MAX_STATEMENT_LENGTH = 4_096
const STATEMENT_RULE = 'must be 1 to 4,096 characters'

const MAX_URL_LENGTH = 2_048
const URL_RULE = 'must be an absolute http, https, ipfs or ar URL of at most 2,048 characters, without credentials'
const URL_START = /^(?:https?|ipfs|ar):\/\/[^/?#]/i
/** Characters that URL parsers repair, each parser in its own way. */
const NOT_IN_A_URL = /[\s\\]/

const MAX_REASON_LENGTH = 1_024
const REASON_RULE = 'must be 1 to 1,024 characters'

const signedEntries = {
  attester: attesterField,
  subject_class: textField(MAX_CLASS_ID_LENGTH, CLASS_RULE),
  subject_instance: v.pipe(v.string(ACCOUNT_ID_RULE), v.check(isAccountId, ACCOUNT_ID_RULE)),
  attestation_type: v.pipe(
    textField(MAX_TYPE_LENGTH, TYPE_RULE),
    v.check(isPrintable, TYPE_RULE),
    v.metadata({ pattern: `^${PRINTABLE}+$` }),
  ),
  statement: textField(MAX_STATEMENT_LENGTH, STATEMENT_RULE),
  evidence_url: unsignedOptional(
    v.pipe(v.string(URL_RULE), v.check(isEvidenceUrl, URL_RULE), v.metadata({ maxLength: MAX_URL_LENGTH })),
  ),
}
export const attestationSchema = v.object(
  { ...signedEntries, signature: unsignedOptional(signatureField) },
  objectMessage,
)
const ATTESTATION_FIELDS: ReadonlySet<string> = new Set([...Object.keys(signedEntries), 'signature'])

export const revocationSchema = v.object(
  { reason: unsignedOptional(textField(MAX_REASON_LENGTH, REASON_RULE)) },
  objectMessage,
)

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
  const invalid = schemaErrors(attestationSchema, body)
  const isSigned = (body['signature'] ?? null) !== null
  // A signed member is never ignored. In an unsigned body only known members count.
  if (isSigned) invalid.push(...unknownFields(body, ATTESTATION_FIELDS))
  if (isSigned && body['evidence_url'] === null) {
    invalid.push({ field: 'evidence_url', code: 'ERR_INVALID_FIELD', message: NULL_RULE })
  }
  if (invalid.length > 0) return refuse(invalid)
  const read = body as v.InferOutput<typeof attestationSchema>
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
  const invalid = schemaErrors(revocationSchema, body)
  if (invalid.length > 0) return refuse(invalid)
  const { reason } = body as v.InferOutput<typeof revocationSchema>
  return ok(reason ?? null)
}

/** Not empty, and so many code points at most. */
function textField(maxLength: number, rule: string) {
  return v.pipe(
    v.string(rule),
    v.check((text) => text !== '' && codePoints(text) <= maxLength, rule),
    v.metadata({ minLength: 1, maxLength }),
  )
}

/** Stored as sent and never fetched here; a reader who fetches it must not find two interpretations. */
function isEvidenceUrl(text: string): boolean {
  if (codePoints(text) > MAX_URL_LENGTH || !URL_START.test(text)) return false
  if (NOT_IN_A_URL.test(text) || !isPrintable(text) || !URL.canParse(text)) return false
  const { username, password } = new URL(text)
  return username === '' && password === ''
}
