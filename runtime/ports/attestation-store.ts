/**
 * Attestations (D13) about NFT instances, and the provenance of instances. They move no value and have no actor: edges
 * write them, and the database serializes concurrent edges.
 * Contract: test/contract/attestation-store/attestation-store.contract.ts
 *   Y1. A call resolves after its commit: its result is stored.
 *   Y2. One client's submissions under one key make one attestation, also concurrent ones; the others return that one.
 *   Y3. An attestation changes once, from active to revoked; the first revocation stays, and later calls return it.
 *   Y4. A page of a list examines a bounded number of rows: it may have fewer entries than requested, even none, and
 *       still have a next page. Each match is listed once, whatever is added meanwhile.
 *   Y5. Provenance is a snapshot, in order of time, the mint first.
 * Every failure is an `AttestationStoreUnavailable`; after a failed write its effect is unknown.
 */
import type { Hash } from '../../actors/audit-chain.ts'
import type { NftName } from '../../actors/nft-id.ts'
import type { NftEventType } from '../../actors/nft-instance/state.ts'

export interface AttestationStore {
  /** `key`: null for a submission without one. */
  readonly create: (attestation: Attestation, key: SubmissionKey | null) => Promise<CreatedAttestation>
  /** The client's attestation under the key; undefined if there is none. */
  readonly submitted: (clientId: string, idempotencyKey: string) => Promise<SubmittedAttestation | undefined>
  /** By ID, which may be any text; undefined if there is none. */
  readonly attestation: (attestationId: string) => Promise<Attestation | undefined>
  /** The attestation after the call (Y3); undefined if there is none. */
  readonly revoke: (attestationId: string, revocation: Revocation) => Promise<Attestation | undefined>
  /** Newest first: by ID, whose time is `createdAtMs`. */
  readonly attestations: (query: AttestationQuery) => Promise<AttestationPage>
  /** Oldest first; undefined if the class has no such instance. */
  readonly provenance: (query: ProvenanceQuery) => Promise<ProvenancePage | undefined>
}

/** Times are milliseconds since 1970. Only `revocation` ever changes. */
export interface Attestation {
  /** `att_<ULID>` of `createdAtMs`. */
  readonly attestationId: string
  /** Any printable name. `attesterVerified`: an account of that ID signed. */
  readonly attester: string
  readonly subjectClass: string
  readonly subjectInstance: string
  readonly attestationType: string
  readonly statement: string
  readonly evidenceUrl: string | null
  /** The client; for an imported attestation `importedBy` of the source ledger, which is no client's ID. */
  readonly submittedBy: string
  /** The time of its import; absent for attestations of this ledger. */
  readonly importedAtMs?: number
  /** The submission was signed by the key of the account `attester`. */
  readonly attesterVerified: boolean
  readonly createdAtMs: number
  /** The service's seal of the attestation as created. */
  readonly seal: Seal
  readonly revocation: Revocation | null
}

/** A signature of the service and the key that made it. */
export interface Seal {
  readonly keyId: string
  /** DER in base64. */
  readonly signature: string
}

export interface Revocation {
  readonly atMs: number
  /** The client's ID. */
  readonly by: string
  readonly reason: string | null
  /** The service's seal of the attestation with its revocation. */
  readonly seal: Seal
}

/** Idempotency key and hash of a client's submission. */
export interface SubmissionKey {
  readonly idempotencyKey: string
  readonly payloadHash: Hash
}

export interface SubmittedAttestation {
  /** Its current state. */
  readonly attestation: Attestation
  /** Hash of the original submission. */
  readonly payloadHash: Hash
}

export type CreatedAttestation =
  | { readonly kind: 'created' }
  /** The key already has an attestation. */
  | { readonly kind: 'repeated'; readonly earlier: SubmittedAttestation }

/** Filters are exact; null: no filter. An unknown value matches nothing. */
export interface AttestationQuery {
  readonly subjectClass: string | null
  readonly subjectInstance: string | null
  /** The subject's class by ID or, if no class has that ID, by folded name. */
  readonly assetClass: string | null
  readonly attester: string | null
  /** `active` or `revoked`. */
  readonly status: string | null
  readonly limit: number
  /** The last ID of the previous page; null for the first. */
  readonly after: string | null
}

export interface AttestationPage {
  readonly attestations: readonly Attestation[]
  /** The ID to continue after; null on the last page. */
  readonly next: string | null
}

export interface ProvenanceQuery extends NftName {
  /** Entries beyond this depth are left out: whole, 0 to `MAX_PROVENANCE_DEPTH`. */
  readonly maxDepth: number
  readonly limit: number
  /** `next` of the previous page; null for the first. */
  readonly after: string | null
}

/** Limit on the changes of owner that a provenance query examines. */
export const MAX_PROVENANCE_DEPTH = 1_000

export interface ProvenancePage {
  readonly entries: readonly ProvenanceEntry[]
  /** Opaque outside the adapter; null on the last page within the depth. */
  readonly next: string | null
}

export type ProvenanceEntry = {
  /** Changes of owner up to this entry: 0 from the mint to the first transfer. A burn changes no owner. */
  readonly depth: number
  readonly atMs: number
} & (
  | {
      readonly event: NftEventType
      /** Author of the transaction: the issuer who minted, the sender of a transfer, the owner who burned. */
      readonly actor: string
      readonly txnId: string
    }
  | { readonly event: 'attestation' | 'revocation'; readonly attestation: Attestation }
)

/** No client's ID has a space. */
export function importedBy(ledgerId: string): string {
  return `import ${ledgerId}`
}

export class AttestationStoreUnavailable extends Error {
  override readonly name = 'AttestationStoreUnavailable'
}
