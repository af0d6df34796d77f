/** The TypeScript client on a running ledger. */
import { beforeAll, describe, expect, test } from 'vitest'
import {
  type AccountKey,
  generateKey,
  type KeySet,
  LedgerClient,
  verifyChain,
  verifyReceipt,
} from '../../../api/client/index.ts'
import type { GetRunning } from '../running.ts'

export function clientSuite(getRunning: GetRunning): void {
  describe('the client', () => {
    let ledger: LedgerClient
    let keySet: KeySet
    let alice: AccountKey
    let bob: AccountKey

    beforeAll(async () => {
      const { origin, clients } = getRunning().cluster
      ledger = new LedgerClient({ url: origin, credentials: clients.transactor })
      await ledger.login()
      keySet = await ledger.keySet()
      alice = await generateKey()
      bob = await generateKey({ extractable: false })
      await ledger.registerAccount('client:alice', alice)
      await ledger.registerAccount('client:bob', bob)
      await ledger.createToken({ symbol: 'CLIENT', decimals: 2, issuer: 'client:alice', total_supply: '1000' })
    })

    test('credits and transfers value, and verifies the receipts and the chain', async () => {
      const credited = await ledger.submitAndWait({ type: 'credit', account_id: 'client:alice', amount: '7' }, alice)
      expect(credited).toMatchObject({ status: 'completed', balance_after: '7' })
      const order = await ledger.sign(
        { type: 'transfer', account_id: 'client:alice', to_account_id: 'client:bob', token_id: 'CLIENT', amount: '25' },
        alice,
      )
      const { txn_id: txnId } = await ledger.call('submitTransaction', { body: order })
      const moved = await ledger.waitForTransaction(txnId)
      expect(moved).toMatchObject({ status: 'completed', balance_after: '975' })
      const chain = await verifyChain(await ledger.auditChain('client:alice'))
      expect(chain).toMatchObject({ ok: true, accountId: 'client:alice' })
      if (!chain.ok) return
      const verdict = await verifyReceipt(await ledger.receipt(txnId), keySet, { chain, order })
      expect(verdict).toMatchObject({ ok: true })
    })

    test('resolves with a failed transaction', async () => {
      const fields = { account_id: 'client:bob', to_account_id: 'client:alice', amount: '1' }
      const failed = await ledger.transfer(fields, bob)
      expect(failed).toMatchObject({ status: 'failed', failure: { code: 'insufficient_funds' } })
      expect(await verifyReceipt(await ledger.receipt(failed.txn_id), keySet)).toMatchObject({ ok: true })
    })
  })
}
