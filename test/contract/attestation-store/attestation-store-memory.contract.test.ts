/** The attestation store in memory, which other tests use, under the contract of the real one. */
import { nftId } from '../../../actors/nft-id.ts'
import { createMemoryAttestationStore } from '../../support/memory/attestation-store-memory.ts'
import { attestationStoreContract } from './attestation-store.contract.ts'

attestationStoreContract('in memory', async () => {
  const { store, other, state } = createMemoryAttestationStore()
  return {
    store,
    other,
    seedClass: async (classId, name) => void state.classes.set(classId, name),
    seedInstance: async (instance, status = 'active') => {
      if (status === 'active') state.instances.set(nftId(instance), instance)
    },
    close: async () => undefined,
  }
})
