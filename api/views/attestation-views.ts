/**
 * Attestations as the interface shows them, and the service's signature over them (D13).
 *   N1. The signature is over the canonical JSON of all members but `signature`; `status` and `key_id` are included. A
 *       revocation is signed again, so a reader can verify it. The signing time, within the key's span (D12), is the
 *       latest of `created_at`, `imported_at` and `revoked_at`.
 *   N2. The signed text is made from the stored row: if the row was changed, the signature does not verify.
 *   N3. A signature is shown only with all signed members: not in lists, which leave `evidence_url` out.
 *   N4. Nor is it shown if the attester's account was erased (D19): the signed text has the hidden name.
 */
import { canonicalJson, type JsonObject } from '../../actors/canonical-json.ts'
import { isErasedName } from '../../actors/identifiers.ts'
import { isoTimestamp } from '../../actors/timestamp.ts'
import type { Attestation, ProvenanceEntry, Revocation, Seal } from '../../runtime/ports/attestation-store.ts'
import type { ServiceKeys } from '../../runtime/ports/service-keys.ts'

export type Stated = Omit<Attestation, 'seal' | 'revocation'>
export type Revoked = Omit<Revocation, 'seal'>

/** `revocation`: null for the attestation as it is made. */
export async function sealAttestation(
  serviceKeys: ServiceKeys,
  stated: Stated,
  revocation: Revoked | null,
): Promise<Seal> {
  const keyId = serviceKeys.current('attestation')
  const [signature] = await serviceKeys.sign(keyId, [canonicalJson(signedMembers(stated, revocation, keyId))])
  if (signature === undefined) throw new Error('the signing keys gave no signature')
  return { keyId, signature }
}

export function attestationMembers(attestation: Attestation): object {
  if (isErasedName(attestation.attester)) return commonMembers(attestation, attestation.revocation)
  const { keyId, signature } = (attestation.revocation ?? attestation).seal
  return { ...signedMembers(attestation, attestation.revocation, keyId), signature }
}

/** As lists show it. */
export function listedAttestationMembers(attestation: Attestation): object {
  return commonMembers({ ...attestation, evidenceUrl: null }, attestation.revocation)
}

function signedMembers(stated: Stated, revocation: Revoked | null, keyId: string): JsonObject {
  return { ...commonMembers(stated, revocation), key_id: keyId }
}

function commonMembers(stated: Stated, revocation: Revoked | null): JsonObject {
  return {
    attestation_id: stated.attestationId,
    attester: stated.attester,
    subject_class: stated.subjectClass,
    subject_instance: stated.subjectInstance,
    attestation_type: stated.attestationType,
    statement: stated.statement,
    ...(stated.evidenceUrl === null ? {} : { evidence_url: stated.evidenceUrl }),
    created_at: isoTimestamp(stated.createdAtMs),
    status: revocation === null ? 'active' : 'revoked',
    submitted_by: stated.submittedBy,
    attester_verified: stated.attesterVerified,
    ...(stated.importedAtMs === undefined ? {} : { imported_at: isoTimestamp(stated.importedAtMs) }),
    ...(revocation === null ? {} : revocationMembers(revocation)),
  }
}

function revocationMembers({ atMs, by, reason }: Revoked): JsonObject {
  return {
    revoked_at: isoTimestamp(atMs),
    revoked_by: by,
    ...(reason === null ? {} : { revocation_reason: reason }),
  }
}

/**
 * The actor of a statement is the account in whose name it stands, also where it is taken back: a client, who is no
 * account, did that, and is named beside it.
 */
export function provenanceMembers(entry: ProvenanceEntry): object {
  const { depth, event } = entry
  const timestamp = isoTimestamp(entry.atMs)
  if ('txnId' in entry) return { depth, event, actor: entry.actor, txn_id: entry.txnId, timestamp }
  const { attestationId, attester, statement, revocation } = entry.attestation
  const stated = { depth, event, actor: attester, attestation_id: attestationId, timestamp }
  if (event === 'attestation' || revocation === null) return { ...stated, details: statement }
  const { by, reason } = revocation
  return { ...stated, revoked_by: by, ...(reason === null ? {} : { details: reason }) }
}
