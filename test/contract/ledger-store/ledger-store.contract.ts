/**
 * The contract of every ledger store (D1-D6 of the port), as a suite over a harness for the real and the simulated one.
 * It uses the port alone and depends on no product.
 */
import { describe } from 'vitest'
import type { LedgerStoreHarness } from './ledger-store-harness.ts'
import { outcomesContract } from './ledger-store-outcomes.contract.ts'
import { ownershipContract } from './ledger-store-ownership.contract.ts'
import { rowsContract } from './ledger-store-rows.contract.ts'
import { guardsContract } from './ledger-store-guards.contract.ts'
import { arrivalsContract } from './ledger-store-arrivals.contract.ts'
import { actorsContract } from './ledger-store-actors.contract.ts'
import { messagesContract } from './ledger-store-messages.contract.ts'
import { nftsContract } from './ledger-store-nfts.contract.ts'
import { setScene } from './ledger-store-scene.ts'
import { valuesContract } from './ledger-store-values.contract.ts'

export type { LedgerStoreHarness, SessionUnderTest } from './ledger-store-harness.ts'

export function ledgerStoreContract(name: string, makeHarness: () => Promise<LedgerStoreHarness>): void {
  describe(`${name} keeps the contract of a ledger store`, () => {
    const scene = setScene(makeHarness)
    ownershipContract(scene)
    rowsContract(scene)
    guardsContract(scene)
    valuesContract(scene)
    actorsContract(scene)
    nftsContract(scene)
    arrivalsContract(scene)
    messagesContract(scene)
    outcomesContract(scene)
  })
}
