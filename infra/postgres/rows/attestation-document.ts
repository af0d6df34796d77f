/**
 * Attestations at rest: what filters need is in columns, all of it is in one sealed text, under a key of the attestation's
 * own that is wrapped in the same row.
 *   D1. The sealed text decides; columns that differ make the row unreadable. An attacker who can write rows but has no key
 *       can neither move a statement to another subject nor undo a revocation.
 *   D2. A text belongs to the state that it was sealed in: the one before the revocation does not open after it.
 */
import type { Attestation, SubmissionKey } from '../../../runtime/ports/attestation-store.ts'
import type { MadeKey } from '../../vault/data-keys.ts'
import { attestationKeyName } from '../../vault/key-name.ts'
import type { WrappedKey } from '../../vault/key-wrapping.ts'
import { openJson } from '../../vault/open-json.ts'
import { type Place, placeOf } from '../../vault/place.ts'
import type { RowVault } from '../../vault/row-vault.ts'
import { UnreadableRow } from '../../vault/unreadable-row.ts'

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

export interface AttestationRow {
  readonly attestation_id: string
  readonly subject_class: string
  readonly subject_instance: string
  /** The keyed hash of the attester. */
  readonly attester: string
  readonly status: string
  readonly submitted_by: string
  readonly created_at: Date
  /** The keyed hash of the client's idempotency key; null: none. */
  readonly idempotency_key: string | null
  readonly revoked_at: Date | null
  readonly document: Buffer
  /** The master key that wraps the attestation's own data key. */
  readonly master_key_id: string
  readonly wrapped_key: Buffer
}

/** Names of the columns, without user input in them. */
export const ATTESTATION_COLUMNS = [
  'attestation_id',
  'subject_class',
  'subject_instance',
  'attester',
  'status',
  'submitted_by',
  'created_at',
  'idempotency_key',
  'revoked_at',
  'document',
  'master_key_id',
  'wrapped_key',
] as const satisfies readonly (keyof AttestationRow)[]

/** Behind every ID: they begin with a letter. */
export const ABOVE_ALL = '~'

/** `key`: of an existing attestation; left out, a new key is made. */
export function sealedAttestation(
  { attestation, submission }: OpenedAttestation,
  vault: RowVault,
  key: MadeKey = vault.keys.make(attestationKeyName(attestation.attestationId)),
): AttestationRow {
  const { attestationId, submittedBy, revocation } = attestation
  const document: Document = { format: FORMAT, attestation, submission }
  const place = placeOfDocument(attestationId, statusOf(attestation))
  const sealed = vault.sealBase64(key.name, place, JSON.stringify(document), new Map([[key.name, key]]))
  return {
    attestation_id: attestationId,
    subject_class: attestation.subjectClass,
    subject_instance: attestation.subjectInstance,
    attester: vault.accountRef(attestation.attester),
    status: statusOf(attestation),
    submitted_by: submittedBy,
    created_at: new Date(attestation.createdAtMs),
    idempotency_key: submission === null ? null : vault.keyRef(submittedBy, submission.idempotencyKey),
    revoked_at: revocation === null ? null : new Date(revocation.atMs),
    document: Buffer.from(sealed, 'base64'),
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
  const name = attestationKeyName(row.attestation_id)
  const document = openJson<Document>(vault, name, place, row.document, wrappedOf(row))
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
