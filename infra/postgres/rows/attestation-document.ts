/**
 * Attestations at rest: what filters need is in columns, all of it is in one sealed text, under a key of the attestation's
 * own that is wrapped in the same row.
 *   D1. The sealed text decides; columns that differ make the row unreadable. An attacker who can write rows but has no key
 *       can neither move a statement to another subject nor undo a revocation.
 *   D2. A text belongs to the state that it was sealed in: the one before the revocation does not open after it.
 */
import { isoTimestamp } from '../../../actors/timestamp.ts'
import type { Attestation, SubmissionKey } from '../../../runtime/ports/attestation-store.ts'
import type { MadeKey } from '../../vault/data-keys.ts'
import { attestationKeyName } from '../../vault/key-name.ts'
import type { WrappedKey } from '../../vault/key-wrapping.ts'
import { type Place, placeOf } from '../../vault/place.ts'
import type { RowVault } from '../../vault/row-vault.ts'
import { UnreadableRow } from '../../vault/unreadable-row.ts'
import type { AttestationRow } from './attestation-rows.ts'

const FORMAT = 1

interface Document {
  readonly format: number
  readonly attestation: Attestation
  /** The client's key of its submission; null: none. */
  readonly submission: SubmissionKey | null
}

export interface OpenedAttestation {
  readonly attestation: Attestation
  readonly submission: SubmissionKey | null
}

/** As a statement takes it: times in ISO 8601, the document in hexadecimal digits. */
export type SealedAttestation = {
  readonly [Column in Exclude<keyof AttestationRow, 'created_at' | 'revoked_at' | 'document'>]: AttestationRow[Column]
} & {
  readonly created_at: string
  readonly revoked_at: string | null
  readonly document: string
}

/** `key`: of an existing attestation; left out, a new key is made. */
export function sealedAttestation(
  { attestation, submission }: OpenedAttestation,
  vault: RowVault,
  key: MadeKey = vault.keys.make(attestationKeyName(attestation.attestationId)),
): SealedAttestation {
  const { attestationId, submittedBy, revocation } = attestation
  const document: Document = { format: FORMAT, attestation, submission }
  const text = JSON.stringify(document)
  return {
    attestation_id: attestationId,
    subject_class: attestation.subjectClass,
    subject_instance: attestation.subjectInstance,
    attester: vault.accountRef(attestation.attester),
    status: statusOf(attestation),
    submitted_by: submittedBy,
    created_at: isoTimestamp(attestation.createdAtMs),
    idempotency_key: submission === null ? null : vault.keyRef(submittedBy, submission.idempotencyKey),
    revoked_at: revocation === null ? null : isoTimestamp(revocation.atMs),
    document: vault.seal(
      key.name,
      placeOfDocument(attestationId, statusOf(attestation)),
      text,
      new Map([[key.name, key]]),
    ),
    master_key_id: key.wrapped.masterKeyId,
    wrapped_key: key.wrapped.wrapped,
  }
}

/** The row's own key. Throws when it does not open. */
export function keyOfRow(row: AttestationRow, vault: RowVault): MadeKey {
  const wrapped = wrappedOf(row)
  const name = attestationKeyName(row.attestation_id)
  return { name, key: vault.keys.unwrap(name, wrapped), wrapped }
}

/** Throws UnreadableRow. */
export function openAttestation(row: AttestationRow, vault: RowVault): OpenedAttestation {
  const place = placeOfDocument(row.attestation_id, row.status)
  const text = vault.open(attestationKeyName(row.attestation_id), place, row.document, wrappedOf(row))
  let document: Document | { readonly format: undefined }
  try {
    document = JSON.parse(text) as Document
  } catch {
    // The error quotes the document.
    throw new UnreadableRow(place, 'its document is not JSON')
  }
  if (document.format !== FORMAT) throw new UnreadableRow(place, 'its document is in an unknown format')
  const { attestation, submission } = document
  if (!agrees(row, { attestation, submission }, vault)) {
    throw new UnreadableRow(place, 'its columns do not say what was sealed')
  }
  return { attestation, submission }
}

function agrees(row: AttestationRow, { attestation, submission }: OpenedAttestation, vault: RowVault): boolean {
  const { submittedBy, revocation } = attestation
  return (
    row.attestation_id === attestation.attestationId &&
    row.subject_class === attestation.subjectClass &&
    row.subject_instance === attestation.subjectInstance &&
    row.attester === vault.accountRef(attestation.attester) &&
    row.status === statusOf(attestation) &&
    row.submitted_by === submittedBy &&
    row.created_at.getTime() === attestation.createdAtMs &&
    (row.revoked_at?.getTime() ?? null) === (revocation?.atMs ?? null) &&
    row.idempotency_key === (submission === null ? null : vault.keyRef(submittedBy, submission.idempotencyKey))
  )
}

function wrappedOf({ master_key_id: masterKeyId, wrapped_key: wrapped }: AttestationRow): WrappedKey {
  return { masterKeyId, wrapped }
}

function statusOf({ revocation }: Attestation): 'active' | 'revoked' {
  return revocation === null ? 'active' : 'revoked'
}

function placeOfDocument(attestationId: string, status: string): Place {
  return placeOf('attestations', attestationId, status)
}
