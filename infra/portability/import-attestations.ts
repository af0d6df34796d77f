/**
 * Attestations imported from another ledger. They keep their IDs and are signed again by this ledger.
 *   A1. This ledger signs every attestation that it shows or exports, so its own keys are enough to verify it.
 *   A2. Clients of the other ledger do not exist here. An imported attestation belongs to no client.
 */
import { canonicalJson } from '../../actors/canonical-json.ts'
import type { ExportedAttestation } from '../../api/schemas/requests/export-records.ts'
import { attestationMembers, type Revoked, sealAttestation, type Stated } from '../../api/views/attestation-views.ts'
import { type Attestation, type AttestationStore, importedBy } from '../../runtime/ports/attestation-store.ts'
import type { Clock } from '../../runtime/ports/clock.ts'
import { LedgerImportsUnavailable } from '../../runtime/ports/ledger-imports.ts'
import type { ServiceKeys } from '../../runtime/ports/service-keys.ts'
import { ATTESTATION_COLUMNS, sealedAttestation } from '../postgres/rows/attestation-document.ts'
import { createQueryPool } from '../postgres/connection/query-pool.ts'
import type { RowVault } from '../vault/row-vault.ts'
import { timeMsOf } from './import-history.ts'

export interface ImportedAttestations {
  /** `other`: another attestation has this ID. */
  readonly look: (shown: ExportedAttestation) => Promise<'absent' | 'present' | 'other'>
  /** Idempotent. `ledgerId`: the exporting ledger. */
  readonly add: (shown: ExportedAttestation, ledgerId: string) => Promise<void>
  readonly close: () => Promise<void>
}

export function createImportedAttestations(options: {
  readonly url: string
  readonly vault: RowVault
  readonly attestations: Pick<AttestationStore, 'attestation'>
  readonly serviceKeys: ServiceKeys
  readonly clock: Pick<Clock, 'now'>
}): ImportedAttestations {
  const { url, vault, attestations, serviceKeys, clock } = options
  const pool = createQueryPool({
    url,
    name: 'ledger imported attestations',
    size: 2,
    unavailable: (message, cause) => new LedgerImportsUnavailable(message, cause),
  })
  return {
    look: async (shown) => {
      const here = await attestations.attestation(shown.attestation_id)
      if (here === undefined) return 'absent'
      return isSame(here, shown) ? 'present' : 'other'
    },
    add: async (shown, ledgerId) => {
      const attestation = await attestationOf(shown, ledgerId, serviceKeys, clock.now())
      const row = sealedAttestation({ attestation, submission: null }, vault)
      await pool.run(
        (sql) => sql`
          INSERT INTO attestations ${sql(row, ...ATTESTATION_COLUMNS)}
          ON CONFLICT (attestation_id) DO NOTHING`,
      )
    },
    close: pool.close,
  }
}

/** True also if the attestation was revoked here after its import. */
function isSame(here: Attestation, shown: ExportedAttestation): boolean {
  const texts = [here, { ...here, revocation: null }].map((one) =>
    statedIn(attestationMembers(one) as ExportedAttestation),
  )
  return texts.includes(statedIn(shown))
}

/** Canonical text without the members that each ledger sets itself. */
function statedIn(shown: ExportedAttestation): string {
  const { key_id: _key, signature: _signature, submitted_by: _by, imported_at: _at, ...stated } = shown
  return canonicalJson(stated)
}

/** The inverse of `attestationMembers`. */
async function attestationOf(
  shown: ExportedAttestation,
  ledgerId: string,
  serviceKeys: ServiceKeys,
  importedAtMs: number,
): Promise<Attestation> {
  const stated: Stated = {
    attestationId: shown.attestation_id,
    attester: shown.attester,
    subjectClass: shown.subject_class,
    subjectInstance: shown.subject_instance,
    attestationType: shown.attestation_type,
    statement: shown.statement,
    evidenceUrl: shown.evidence_url ?? null,
    submittedBy: importedBy(ledgerId),
    importedAtMs,
    attesterVerified: shown.attester_verified,
    createdAtMs: timeMsOf(shown.created_at),
  }
  const seal = await sealAttestation(serviceKeys, stated, null)
  const { status, revoked_at: at = '', revoked_by: by = '', revocation_reason: reason = null } = shown
  if (status !== 'revoked') return { ...stated, seal, revocation: null }
  const revoked: Revoked = { atMs: timeMsOf(at), by, reason }
  return { ...stated, seal, revocation: { ...revoked, seal: await sealAttestation(serviceKeys, stated, revoked) } }
}
