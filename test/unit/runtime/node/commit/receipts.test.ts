/** Each receipt of a batch is signed with the key that is valid at its own time, and the receipts keep their order. */
import { expect, test } from 'vitest'
import type { TransactionRecord } from '../../../../../actors/account/transaction.ts'
import { signReceipts } from '../../../../../runtime/node/commit/prepared-batch.ts'
import type { Signer } from '../../../../../runtime/ports/signer.ts'
import { creditAccount, openAccount } from '../../../../support/postgres/ledger-rows.ts'

const ROTATED_AT_MS = 1_790_000_000_000
const calls: { readonly keyId: string; readonly payloads: number }[] = []
const signer: Signer = {
  verifyMany: () => Promise.reject(new Error('nothing is checked')),
  receiptKeyId: (processedAtMs) => (processedAtMs < ROTATED_AT_MS ? 'old' : 'new'),
  signMany: (keyId, payloads) => {
    calls.push({ keyId, payloads: payloads.length })
    return Promise.resolve(payloads.map((payload) => `${keyId} signs ${payload}`))
  },
}

function processedAt(processedAtMs: number): TransactionRecord {
  const [write] = creditAccount(openAccount(0, 'alice').account, 'key', '10').rows.transactions
  if (write === undefined) throw new Error('there is a transaction')
  return { ...write.transaction, processedAtMs }
}

test('G3: a batch about a rotation is signed with both keys, each once', async () => {
  const processed = [-1, 0, -2, 5].map((offMs) => processedAt(ROTATED_AT_MS + offMs))
  const receipts = await signReceipts(signer, processed, 'ledger-1')
  expect(receipts.map(({ keyId }) => keyId)).toEqual(['old', 'new', 'old', 'new'])
  for (const [index, { keyId, signature }] of receipts.entries()) {
    const time = new Date(processed[index]?.processedAtMs ?? 0).toISOString()
    expect(signature).toMatch(new RegExp(`^${keyId} signs .*"key_id":"${keyId}".*"processed_at":"${time}"`))
  }
  expect(calls).toEqual([
    { keyId: 'old', payloads: 2 },
    { keyId: 'new', payloads: 2 },
  ])
  expect(await signReceipts(signer, [], 'ledger-1')).toEqual([])
  expect(calls).toHaveLength(2)
})
