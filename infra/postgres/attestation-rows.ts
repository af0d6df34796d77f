/** Rows of `attestations` as the port knows them: made anew from the columns, so that where one was changed no seal fits. */
import type { Attestation, Revocation } from '../../runtime/ports/attestation-store.ts'

export interface AttestationRow {
  readonly attestation_id: string
  readonly attester: string
  readonly subject_class: string
  readonly subject_instance: string
  readonly attestation_type: string
  readonly statement: string
  readonly evidence_url: string | null
  readonly submitted_by: string
  readonly attester_verified: boolean
  readonly created_at: Date
  readonly key_id: string
  readonly signature: string
  readonly revoked_at: Date | null
  readonly revoked_by: string | null
  readonly revocation_reason: string | null
  readonly revocation_key_id: string | null
  readonly revocation_signature: string | null
}

/** Names of the columns, without user input in them. */
export const ATTESTATION_COLUMNS = [
  'attestation_id',
  'attester',
  'subject_class',
  'subject_instance',
  'attestation_type',
  'statement',
  'evidence_url',
  'submitted_by',
  'attester_verified',
  'created_at',
  'key_id',
  'signature',
  'revoked_at',
  'revoked_by',
  'revocation_reason',
  'revocation_key_id',
  'revocation_signature',
] as const satisfies readonly (keyof AttestationRow)[]

/** Behind every ID: they begin with a letter. */
export const ABOVE_ALL = '~'

export function attestationOf(row: AttestationRow): Attestation {
  return {
    attestationId: row.attestation_id,
    attester: row.attester,
    subjectClass: row.subject_class,
    subjectInstance: row.subject_instance,
    attestationType: row.attestation_type,
    statement: row.statement,
    evidenceUrl: row.evidence_url,
    submittedBy: row.submitted_by,
    attesterVerified: row.attester_verified,
    createdAtMs: row.created_at.getTime(),
    seal: { keyId: row.key_id, signature: row.signature },
    revocation: revocationOf(row),
  }
}

/** The table's own check has these columns all there or none. */
function revocationOf(row: AttestationRow): Revocation | null {
  if (row.revoked_at === null) return null
  return {
    atMs: row.revoked_at.getTime(),
    by: row.revoked_by ?? '',
    reason: row.revocation_reason,
    seal: { keyId: row.revocation_key_id ?? '', signature: row.revocation_signature ?? '' },
  }
}
