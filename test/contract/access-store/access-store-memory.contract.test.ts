/** The access store in memory, which other tests use, under the contract of the real one. */
import { createMemoryAccessStore } from '../../support/memory/access-store-memory.ts'
import { accessStoreContract } from './access-store.contract.ts'
import { clientAdministrationContract } from './client-administration.contract.ts'

async function inMemory() {
  const { store, other } = createMemoryAccessStore()
  return { store, other, close: async () => undefined }
}

accessStoreContract('in memory', inMemory)
clientAdministrationContract('in memory', inMemory)
