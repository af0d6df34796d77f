/** The memory chain under the common contract. */
import {
  createMemoryAdministrativeChain,
  type MemoryAdministrativeState,
} from '../../support/memory/administrative-chain-memory.ts'
import { administrativeChainContract, CONTRACT_LEDGER } from './administrative-chain.contract.ts'

administrativeChainContract('in memory', async () => {
  const state: MemoryAdministrativeState = { ledgerId: CONTRACT_LEDGER, entries: [] }
  return {
    chain: createMemoryAdministrativeChain(state, Date.now),
    other: createMemoryAdministrativeChain(state, Date.now),
    close: async () => undefined,
  }
})
