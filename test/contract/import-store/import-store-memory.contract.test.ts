/** The import store in memory, which other tests use, under the contract of the real one. */
import { createMemoryImportStore } from '../../support/memory/import-store-memory.ts'
import { importStoreContract } from './import-store.contract.ts'

importStoreContract('memory', async () => {
  const store = createMemoryImportStore({ nowMs: () => 1_760_000_000_000 })
  return { store, close: () => store.close() }
})
