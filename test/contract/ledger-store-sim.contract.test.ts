import { createSimHarness } from '../simulation/sim-ledger-store-harness.ts'
import { ledgerStoreContract } from './ledger-store.contract.ts'

ledgerStoreContract('the simulation', () => createSimHarness(1))
