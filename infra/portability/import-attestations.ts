/**
 * Attestations that come from another ledger: with their ID and its signature. They have no home; nobody but an import writes
 * one that is there already under its ID.
 */
import type { JsonObject } from '../../actors/canonical-json.ts'
import { canonicalJson } from '../../actors/canonical-json.ts'
import { attestationMembers } from '../../api/attestation-views.ts'
import type { Attestation, AttestationStore } from '../../runtime/ports/attestation-store.ts'
import { LedgerImportsUnavailable } from '../../runtime/ports/ledger-imports.ts'
import { sealedAttestation } from '../postgres/attestation-document.ts'
import { createQueryPool } from '../postgres/query-pool.ts'
import type { RowVault } from '../vault/row-vault.ts'
import { timeMsOf } from './import-history.ts'

export interface ImportedAttestations {
  /** `other`: the ID is taken by something else. */
  readonly look: (shown: JsonObject) => Promise<'absent' | 'present' | 'other'>
  /** One that is there stays as it is. */
  readonly add: (shown: JsonObject) => Promise<void>
  readonly close: () => Promise<void>
}

const STATEMENT_TIMEOUT_MS = 5_000

export function createImportedAttestations(options: {
  readonly url: string
  readonly vault: RowVault
  readonly attestations: Pick<AttestationStore, 'attestation'>
}): ImportedAttestations {
  const { url, vault, attestations } = options
  const pool = createQueryPool({
    url,
    name: 'ledger imported attestations',
    size: 2,
    statementTimeoutMs: STATEMENT_TIMEOUT_MS,
    unavailable: (message, cause) => new LedgerImportsUnavailable(message, cause),
  })
  return {
    look: async (shown) => {
      const here = await attestations.attestation(attestationOf(shown).attestationId)
      if (here === undefined) return 'absent'
      return isSame(here, shown) ? 'present' : 'other'
    },
    add: async (shown) => {
      const row = sealedAttestation({ attestation: attestationOf(shown), submission: null }, vault)
      await pool.run(
        (sql) => sql`
          INSERT INTO attestations (attestation_id, subject_class, subject_instance, attester, status, submitted_by,
            created_at, idempotency_key, revoked_at, document, master_key_id, wrapped_key)
          VALUES (${row.attestation_id}, ${row.subject_class}, ${row.subject_instance}, ${row.attester}, ${row.status},
            ${row.submitted_by}, ${row.created_at}, NULL, ${row.revoked_at},
            decode(${row.document}, 'hex'), ${row.master_key_id}, ${row.wrapped_key})
          ON CONFLICT (attestation_id) DO NOTHING`,
      )
    },
    close: pool.close,
  }
}

/** Also when it was taken back here since. */
function isSame(here: Attestation, shown: JsonObject): boolean {
  const texts = [here, { ...here, revocation: null }].map((one) => canonicalJson(attestationMembers(one) as JsonObject))
  return texts.includes(canonicalJson(shown))
}

/**
 * From what `attestationMembers` makes of it. Of one that was taken back only the signature over that is known: it stands for
 * the one before, too, which is shown no more.
 */
function attestationOf(shown: JsonObject): Attestation {
  const text = (name: string): string => {
    const value = shown[name]
    return typeof value === 'string' ? value : ''
  }
  const optional = (name: string): string | null => (shown[name] === undefined ? null : text(name))
  const seal = { keyId: text('key_id'), signature: text('signature') }
  return {
    attestationId: text('attestation_id'),
    attester: text('attester'),
    subjectClass: text('subject_class'),
    subjectInstance: text('subject_instance'),
    attestationType: text('attestation_type'),
    statement: text('statement'),
    evidenceUrl: optional('evidence_url'),
    submittedBy: text('submitted_by'),
    attesterVerified: shown['attester_verified'] === true,
    createdAtMs: timeMsOf(text('created_at')),
    seal,
    revocation:
      shown['status'] === 'revoked'
        ? { atMs: timeMsOf(text('revoked_at')), by: text('revoked_by'), reason: optional('revocation_reason'), seal }
        : null,
  }
}
