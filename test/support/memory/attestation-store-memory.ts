/** The attestation store in memory: all that the port promises, for tests that want no database. */
import { nftId } from '../../../actors/nft-id.ts'
import { foldedName } from '../../../actors/nft-class/state.ts'
import type { NftEvent } from '../../../actors/nft-instance/state.ts'
import {
  type Attestation,
  type AttestationPage,
  type AttestationQuery,
  type AttestationStore,
  AttestationStoreUnavailable,
  type ProvenanceEntry,
  type ProvenancePage,
  type ProvenanceQuery,
  type SubmissionKey,
  type SubmittedAttestation,
} from '../../../runtime/ports/attestation-store.ts'

export interface MemoryInstance {
  readonly issuer: string
  /** From the mint. */
  readonly events: readonly NftEvent[]
}

/** State that all stores made from it share. Each call takes effect in one turn, so none sees half of another. */
export interface MemoryAttestationState {
  /** By ID. */
  readonly attestations: Map<string, Attestation>
  /** By client and key. */
  readonly submissions: Map<string, SubmissionKey & { readonly attestationId: string }>
  /** Names of classes by ID. */
  readonly classes: Map<string, string>
  /** By `nftId`. */
  readonly instances: Map<string, MemoryInstance>
}

export function createMemoryAttestationStore(): {
  readonly store: AttestationStore
  readonly other: AttestationStore
  readonly state: MemoryAttestationState
} {
  const state = createMemoryAttestationState()
  return { store: attestationStoreOn(state), other: attestationStoreOn(state), state }
}

export function createMemoryAttestationState(): MemoryAttestationState {
  return { attestations: new Map(), submissions: new Map(), classes: new Map(), instances: new Map() }
}

export function attestationStoreOn(state: MemoryAttestationState): AttestationStore {
  const { attestations, submissions } = state
  return {
    submitted: async (clientId, idempotencyKey) => submittedIn(state, clientId, idempotencyKey),
    async create(attestation, key) {
      const { attestationId, submittedBy } = attestation
      const earlier = key === null ? undefined : submittedIn(state, submittedBy, key.idempotencyKey)
      if (earlier !== undefined) return { kind: 'repeated', earlier }
      if (attestations.has(attestationId)) throw new AttestationStoreUnavailable('There is such an ID already.')
      attestations.set(attestationId, structuredClone(attestation))
      if (key !== null) submissions.set(placeOf(submittedBy, key.idempotencyKey), { ...key, attestationId })
      return { kind: 'created' }
    },
    attestation: async (attestationId) => structuredClone(attestations.get(attestationId)),
    async revoke(attestationId, revocation) {
      const attestation = attestations.get(attestationId)
      if (attestation?.revocation === null) attestations.set(attestationId, { ...attestation, revocation })
      return structuredClone(attestations.get(attestationId))
    },
    attestations: async (query) => pageOf(state, query),
    provenance: async (query) => provenanceOf(state, query),
  }
}

function submittedIn(
  { attestations, submissions }: MemoryAttestationState,
  clientId: string,
  idempotencyKey: string,
): SubmittedAttestation | undefined {
  const submission = submissions.get(placeOf(clientId, idempotencyKey))
  const attestation = submission === undefined ? undefined : attestations.get(submission.attestationId)
  if (submission === undefined || attestation === undefined) return undefined
  return { attestation: structuredClone(attestation), payloadHash: submission.payloadHash }
}

function placeOf(clientId: string, idempotencyKey: string): string {
  return JSON.stringify([clientId, idempotencyKey])
}

function pageOf(state: MemoryAttestationState, query: AttestationQuery): AttestationPage {
  const found = [...state.attestations.values()]
    .filter((attestation) => matches(state, attestation, query))
    .filter(({ attestationId }) => query.after === null || attestationId < query.after)
    .sort((left, right) => (left.attestationId < right.attestationId ? 1 : -1))
  const shown = found.slice(0, query.limit)
  return {
    attestations: structuredClone(shown),
    next: found.length > shown.length ? (shown.at(-1)?.attestationId ?? null) : null,
  }
}

function matches(state: MemoryAttestationState, attestation: Attestation, query: AttestationQuery): boolean {
  const holds = (wanted: string | null, value: string): boolean => wanted === null || wanted === value
  return (
    holds(query.subjectClass, attestation.subjectClass) &&
    holds(query.subjectInstance, attestation.subjectInstance) &&
    holds(query.attester, attestation.attester) &&
    holds(query.status, attestation.revocation === null ? 'active' : 'revoked') &&
    (query.assetClass === null || attestation.subjectClass === classOf(state, query.assetClass))
  )
}

function classOf({ classes }: MemoryAttestationState, text: string): string | undefined {
  if (classes.has(text)) return text
  return [...classes].find(([, name]) => foldedName(name) === foldedName(text))?.[0]
}

/** A `next` is the number of entries before it: nothing here comes late. */
function provenanceOf(state: MemoryAttestationState, query: ProvenanceQuery): ProvenancePage | undefined {
  const instance = state.instances.get(nftId(query))
  if (instance === undefined) return undefined
  const stated = [...state.attestations.values()]
    .filter(
      ({ subjectClass, subjectInstance }) => subjectClass === query.classId && subjectInstance === query.instanceId,
    )
    .sort((left, right) => (left.attestationId < right.attestationId ? -1 : 1))
  const entries = [
    ...instance.events.map((event) => ledgerEntry(event, instance.issuer)),
    ...stated.map((attestation) => ({ event: 'attestation', atMs: attestation.createdAtMs, attestation }) as const),
    ...stated.flatMap((attestation) =>
      attestation.revocation === null
        ? []
        : [{ event: 'revocation', atMs: attestation.revocation.atMs, attestation } as const],
    ),
  ]
    // Stable: what is of one moment stays in the order of kinds.
    .sort((left, right) => left.atMs - right.atMs)
    .map((entry, index, all): ProvenanceEntry => ({
      ...entry,
      depth: all.slice(0, index + 1).filter(isTransfer).length,
    }))
    .filter(({ depth }) => depth <= query.maxDepth)
  const start = Number(query.after ?? 0)
  const end = start + query.limit
  return { entries: structuredClone(entries.slice(start, end)), next: end < entries.length ? String(end) : null }
}

function isTransfer({ event }: { readonly event: string }): boolean {
  return event === 'transfer'
}

function ledgerEntry({ type, from, txnId, atMs }: NftEvent, issuer: string) {
  return { event: type, atMs, actor: type === 'mint' ? issuer : (from ?? ''), txnId } as const
}
