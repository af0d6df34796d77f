import { createSimHarness } from '../simulation/sim-ledger-store-harness.ts'
import { ledgerStoreContract } from './ledger-store.contract.ts'

for (let seed = 1; seed <= 4; seed += 1)
  ledgerStoreContract(`the simulation of seed ${seed}`, () => createSimHarness(seed))
