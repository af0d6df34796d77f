/** The TypeScript client on a running ledger. */
import { randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, test } from 'vitest'
import {
  type AccountKey,
  generateKey,
  type KeySet,
  LedgerClient,
  type Order,
  termsHash,
  verifyAssertion,
  verifyChain,
  verifyLiabilityProof,
  verifyReceipt,
  verifyStatement,
} from '../../../api/client/index.ts'
import type { GetRunning } from '../running.ts'

const [ALICE, BOB, TOKEN] = ['client:alice', 'client:bob', 'CLIENT'] as const
const TO_BOB = { account_id: ALICE, to_account_id: BOB, token_id: TOKEN } as const
const LEGS = [
  { account_id: ALICE, type: 'debit', amount: '3', token_id: TOKEN },
  { account_id: BOB, type: 'credit', amount: '3', token_id: TOKEN },
] as const

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
      await ledger.registerAccount(ALICE, alice)
      await ledger.registerAccount(BOB, bob)
      await ledger.createToken({ symbol: TOKEN, decimals: 2, issuer: ALICE, total_supply: '1000' })
    })

    test('credits and transfers value, and verifies the receipt with its chain and its order', async () => {
      const credit: Order = { type: 'credit', account_id: ALICE, amount: '7' }
      expect(await ledger.submitAndWait(credit, alice)).toMatchObject({ status: 'completed', balance_after: '7' })
      const order = await ledger.sign({ type: 'transfer', ...TO_BOB, amount: '25' }, alice)
      const { txn_id: txnId } = await ledger.call('submitTransaction', { body: order })
      expect(await ledger.waitForTransaction(txnId)).toMatchObject({ status: 'completed', balance_after: '975' })
      const again = await ledger.respond('submitTransaction', { body: order })
      expect([again.body.txn_id, again.headers.get('idempotency-replayed')]).toEqual([txnId, 'true'])
      const { audit_hash: tip } = await ledger.call('getAccountState', { path: { accountId: ALICE } })
      const chain = await verifyChain(await ledger.auditChain(ALICE), { tip })
      const verdict = await verifyReceipt(await ledger.receipt(txnId), keySet, { chain, order })
      expect(verdict).toEqual({
        ok: true,
        proved: [
          expect.stringContaining(`${txnId} of ${ALICE} is completed`),
          'It is the transaction of this order.',
          expect.stringMatching(/^It is entry \d+ of the audit chain\.$/),
        ],
      })
    })

    test('resolves with a failed transaction, and rehearses it', async () => {
      const fields = { account_id: BOB, to_account_id: ALICE, amount: '1' }
      const rehearsed = await ledger.dryRun({ type: 'transfer', ...fields }, bob)
      expect(rehearsed).toMatchObject({ outcome: 'failed', failure: { code: 'insufficient_funds' } })
      const failed = await ledger.transfer(fields, bob)
      expect(failed).toMatchObject({ status: 'failed', failure: { code: 'insufficient_funds' } })
      expect(await verifyReceipt(await ledger.receipt(failed.txn_id), keySet)).toMatchObject({ ok: true })
    })

    test('refunds a part of a transfer', async () => {
      const { txn_id: refunds } = await ledger.transfer({ ...TO_BOB, amount: '4' }, alice)
      const refund = { account_id: BOB, token_id: TOKEN, amount: '1.5', refunds }
      expect(await ledger.refund(refund, bob)).toMatchObject({ status: 'completed', to_account_id: ALICE })
      const refunded = await ledger.call('getTransaction', { path: { txnId: refunds } })
      expect(refunded).toMatchObject({ refunded_amount: '1.5' })
    })

    test('settles a group, and declines another', async () => {
      const group = await ledger.registerGroup(LEGS)
      expect(group.terms_hash).toBe(await termsHash({ groupId: group.group_id, legs: LEGS, timeoutSeconds: 900 }))
      await ledger.submitLeg(group, LEGS[0], alice)
      await ledger.submitLeg(group, LEGS[1], bob)
      expect(await ledger.waitForGroup(group.group_id)).toMatchObject({ status: 'settled' })
      const other = await ledger.registerGroup(LEGS, { groupId: randomUUID(), timeoutSeconds: 60 })
      await ledger.declineGroup(other, BOB, bob)
      expect(await ledger.waitForGroup(other.group_id)).toMatchObject({ status: 'reverted' })
    })

    test('captures a part of a hold, and releases the rest', async () => {
      const expires = { expires_at: new Date(Date.now() + 3_600_000).toISOString() }
      const { hold_id } = await ledger.createHold({ ...TO_BOB, ...expires, amount: '10' }, alice)
      const captured = await ledger.captureHold({ hold_id, account_id: BOB, amount: '6' }, bob)
      expect(captured).toMatchObject({ status: 'completed', hold_id })
      const released = await ledger.releaseHold({ hold_id, account_id: BOB }, bob)
      expect(released).toMatchObject({ status: 'released', captured: '6' })
      const refused = ledger.createHold({ ...TO_BOB, ...expires, amount: '100000' }, alice)
      await expect(refused).rejects.toMatchObject({
        code: 'ERR_INSUFFICIENT_FUNDS',
        status: 409,
        outcome: 'not_applied',
      })
    })

    test('mints an NFT, transfers it and attests it', async () => {
      const description = { name: `Client class ${randomUUID()}`, description: 'of a test' }
      const body = { ...description, issuer: ALICE, metadata_schema: { type: 'object' } }
      const { class_id } = await ledger.call('createNftClass', { body })
      const nft = { class_id, instance_id: 'one' }
      expect(await ledger.mintNft({ ...nft, account_id: ALICE, metadata: {} }, alice)).toMatchObject({ owner: ALICE })
      const moved = await ledger.transfer({ ...nft, account_id: ALICE, to_account_id: BOB, amount: '1' }, alice)
      expect(moved.status).toBe('completed')
      const statement = { attestation_type: 'condition', statement: 'As new.' }
      const subject = { subject_class: class_id, subject_instance: 'one' }
      const attestation = await ledger.attest({ attester: BOB, ...subject, ...statement }, { key: bob })
      expect(attestation).toMatchObject({ attester_verified: true })
    })

    test('rotates a key', async () => {
      const [accountId, first, second] = ['client:rotated', await generateKey(), await generateKey()]
      await ledger.registerAccount(accountId, first)
      expect(await ledger.rotateKey(accountId, first, second)).toMatchObject({ key_id: second.keyId })
      const order: Order = { type: 'credit', account_id: accountId, amount: '1' }
      await expect(ledger.submit(order, first)).rejects.toMatchObject({ code: 'ERR_SIGNATURE_MISMATCH', status: 403 })
      expect(await ledger.submitAndWait(order, second)).toMatchObject({ status: 'completed' })
    })

    test('reads lists to their end, page by page', async () => {
      const query = { account_id: ALICE, page_size: 2 }
      const ids: string[] = []
      for await (const { txn_id: id } of ledger.list('listTransactions', { query })) ids.push(id)
      const whole = await ledger.call('listTransactions', { query: { account_id: ALICE } })
      expect(ids).toEqual(whole.transactions.map(({ txn_id: id }) => id))
      expect(ids.length).toBeGreaterThan(2)
    })

    test('follows events, and continues behind a cursor', async () => {
      const seen: { cursor: string; id: string; txnId: unknown }[] = []
      const filter = { account_id: BOB, types: ['ledger.transaction.*'] }
      const take = async (after: string, count: number): Promise<void> => {
        let left = count
        for await (const { cursor, event } of ledger.events({ ...filter, after })) {
          seen.push({ cursor, id: event.id, txnId: event.data['txn_id'] })
          left -= 1
          if (left === 0) break
        }
      }
      const { next_cursor: latest } = await ledger.call('listEvents', { query: { after: 'latest' } })
      const following = take(latest, 1)
      await ledger.transfer({ ...TO_BOB, amount: '1' }, alice)
      await following
      await ledger.transfer({ ...TO_BOB, amount: '1' }, alice)
      await take(seen[0]?.cursor ?? '', 1)
      expect(new Set(seen.map(({ id }) => id)).size).toBe(2)
    })

    test('proves statements, assertions and liabilities', async () => {
      const to = new Date().toISOString()
      const pages = await ledger.statement(ALICE, { token_id: TOKEN, to, page_size: 1 })
      expect(pages.length).toBeGreaterThan(1)
      expect(await verifyStatement(pages, keySet)).toMatchObject({ ok: true })
      expect(await verifyStatement(pages.slice(1), keySet)).toMatchObject({ reason: 'incomplete' })
      const assertion = await ledger.call('proveLiabilities', { body: { requester: 'test' } })
      expect(await verifyAssertion(assertion, keySet)).toMatchObject({ ok: true })
      const proof = await ledger.liabilityProof(ALICE, { merkleRoot: assertion.result.merkle_root })
      const verdict = await verifyLiabilityProof(proof, keySet)
      expect(verdict).toMatchObject({ ok: true })
      expect(JSON.stringify(verdict)).toContain(`${TOKEN} owed to ${ALICE}`)
    })

    test('names what is wrong with a request', async () => {
      const wrong = { type: 'credit', account_id: ALICE, amount: 'much', memo: 'red' } as object as Order
      await expect(ledger.submit(wrong, alice)).rejects.toMatchObject({
        codes: ['ERR_INVALID_AMOUNT', 'ERR_UNKNOWN_FIELD'],
        requestId: expect.stringMatching(/./),
        problem: { errors: [{ field: 'amount' }, { field: 'memo' }] },
      })
      await expect(ledger.call('listAccounts')).rejects.toMatchObject({ code: 'ERR_FORBIDDEN', status: 403 })
    })
  })
}
