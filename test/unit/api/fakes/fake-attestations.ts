/** The in-memory attestation store. A test may make it fail, and read its state. */
import type { AttestationStore } from '../../../../runtime/ports/attestation-store.ts'
import {
  createMemoryAttestationStore,
  type MemoryAttestationState,
} from '../../../support/memory/attestation-store-memory.ts'

export interface FakeAttestations extends AttestationStore {
  readonly state: MemoryAttestationState
  /** Thrown by every call while it is set. */
  failure: Error | null
  /** While set, writes throw it after they took effect: the outcome is unknown. */
  lost: Error | null
}

export function createFakeAttestations(): FakeAttestations {
  const { store, state } = createMemoryAttestationStore()
  const fake: FakeAttestations = {
    state,
    failure: null,
    lost: null,
    create: async (attestation, key) => told(await working().create(attestation, key)),
    submitted: async (clientId, idempotencyKey) => await working().submitted(clientId, idempotencyKey),
    attestation: async (attestationId) => await working().attestation(attestationId),
    revoke: async (attestationId, revocation) => told(await working().revoke(attestationId, revocation)),
    attestations: async (query) => await working().attestations(query),
    provenance: async (query) => await working().provenance(query),
  }
  function working(): AttestationStore {
    if (fake.failure !== null) throw fake.failure
    return store
  }
  function told<T>(outcome: T): T {
    if (fake.lost !== null) throw fake.lost
    return outcome
  }
  return fake
}
