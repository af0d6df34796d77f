/**
 * Attestations (D13): what somebody states of an NFT instance, and what became of the instance, statements included. They
 * move no value and have no actor: edges write them, and the database decides between edges that write at once.
 * Contract: test/contract/attestation-store.contract.ts
 *   Y1. What a call tells of is stored: it resolves after the commit, never before.
 *   Y2. Of all that one client sends under one key exactly one attestation is made, whoever asks at the same time; the
 *       others are told of that one.
 *   Y3. An attestation changes once, from active to revoked; the first revocation stays, and later ones are told of it.
 *   Y4. A page of a list examines a bounded number of rows: it may hold fewer than asked for, even none, and still say
 *       where to go on. Each match is listed once, whatever arrives meanwhile.
 *   Y5. Provenance is one look at one moment, in the order of time, the mint first.
 * Every failure is an `AttestationStoreUnavailable`; of a write it does not say whether it took effect.
 */
import type { Hash } from '../../actors/audit-chain.ts'
import type { NftName } from '../../actors/nft-id.ts'
import type { NftEventType } from '../../actors/nft-instance/state.ts'

export interface AttestationStore {
  /** `key`: null for a submission that names itself by none. */
  readonly create: (attestation: Attestation, key: SubmissionKey | null) => Promise<CreatedAttestation>
  /** The client's attestation under the key; undefined when there is none. */
  readonly submitted: (clientId: string, idempotencyKey: string) => Promise<SubmittedAttestation | undefined>
  /** By its ID, which may be any text; undefined when there is none. */
  readonly attestation: (attestationId: string) => Promise<Attestation | undefined>
  /** The attestation as it is then (Y3); undefined when there is none. */
  readonly revoke: (attestationId: string, revocation: Revocation) => Promise<Attestation | undefined>
  /** Newest first: by ID, whose time is `createdAtMs`. */
  readonly attestations: (query: AttestationQuery) => Promise<AttestationPage>
  /** Oldest first; undefined when the class has no such instance. */
  readonly provenance: (query: ProvenanceQuery) => Promise<ProvenancePage | undefined>
}

/** Times are milliseconds since 1970. Nothing of it changes but `revocation`. */
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
  /** The client; of one that came from another ledger `importedBy` of that ledger, which is no client's ID. */
  readonly submittedBy: string
  /** When it came from another ledger; left out: it was made here. */
  readonly importedAtMs?: number
  /** The submission was signed by the key of the account `attester`. */
  readonly attesterVerified: boolean
  readonly createdAtMs: number
  /** The service's, over the attestation as it was made. */
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
  /** The client. */
  readonly by: string
  readonly reason: string | null
  /** The service's, over the attestation with its revocation. */
  readonly seal: Seal
}

/** Idempotency key and hash of a client's submission. */
export interface SubmissionKey {
  readonly idempotencyKey: string
  readonly payloadHash: Hash
}

export interface SubmittedAttestation {
  /** As it is now. */
  readonly attestation: Attestation
  /** Of what the client sent when it was made. */
  readonly payloadHash: Hash
}

export type CreatedAttestation =
  | { readonly kind: 'created' }
  /** There was one under the key. */
  | { readonly kind: 'repeated'; readonly earlier: SubmittedAttestation }

/** Filters are exact; null: none. A value that no attestation has matches nothing. */
export interface AttestationQuery {
  readonly subjectClass: string | null
  readonly subjectInstance: string | null
  /** The subject's class by its ID or, where no class has that ID, by its name as classes are told apart by name. */
  readonly assetClass: string | null
  readonly attester: string | null
  /** `active` or `revoked`. */
  readonly status: string | null
  readonly limit: number
  /** The ID where the page before ended; null for the first. */
  readonly after: string | null
}

export interface AttestationPage {
  readonly attestations: readonly Attestation[]
  /** The ID to go on after; null: nothing follows. */
  readonly next: string | null
}

export interface ProvenanceQuery extends NftName {
  /** Entries beyond this depth are left out: whole, 0 to `MAX_PROVENANCE_DEPTH`. */
  readonly maxDepth: number
  readonly limit: number
  /** `next` of the page before; null for the first. */
  readonly after: string | null
}

/** Limit on the changes of owner that a provenance query examines. */
export const MAX_PROVENANCE_DEPTH = 1_000

export interface ProvenancePage {
  readonly entries: readonly ProvenanceEntry[]
  /** Opaque outside the adapter; null: nothing follows within the depth. */
  readonly next: string | null
}

export type ProvenanceEntry = {
  /** Changes of owner up to this entry: 0 from the mint to the first transfer. A burn changes no owner. */
  readonly depth: number
  readonly atMs: number
} & (
  | {
      readonly event: NftEventType
      /** Whose transaction it was: the issuer who minted, the sender of a transfer, the owner who burned. */
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
