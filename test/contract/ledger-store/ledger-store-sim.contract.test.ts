import { createSimHarness } from '../../simulation/store/harness.ts'
import { erasureContract } from './ledger-store-erasure.contract.ts'
import { rewoundContract } from './ledger-store-rewound.contract.ts'
import { serverContract } from './ledger-store-server.contract.ts'
import { ledgerStoreContract } from './ledger-store.contract.ts'

for (let seed = 1; seed <= 4; seed += 1) {
  ledgerStoreContract(`the simulation of seed ${seed}`, () => createSimHarness(seed))
  erasureContract(`the simulation of seed ${seed}`, () => createSimHarness(seed))
  rewoundContract(`the simulation of seed ${seed}`, () => createSimHarness(seed))
  serverContract(`the simulation of seed ${seed}`, () => createSimHarness(seed))
}
