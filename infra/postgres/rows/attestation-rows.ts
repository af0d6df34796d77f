/** Rows of `attestations`: what filters and the order of time need, and one sealed text (attestation-document.ts). */

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
