/** Goal: the store that tests of imports run over keeps the contract of the one in PostgreSQL. */
import { createMemoryImportStore } from '../support/import-store-memory.ts'
import { importStoreContract } from './import-store.contract.ts'

importStoreContract('memory', async () => {
  const store = createMemoryImportStore({ nowMs: () => 1_760_000_000_000 })
  return { store, close: () => store.close() }
})
