/** Data of the findings: examples of the interface, and receipts that any test can sign. */
import { generateKeyPairSync, sign } from 'node:crypto'
import { canonicalJson, type JsonObject } from '../../../actors/canonical-json.ts'
import type { KeySet, Receipt } from '../../../api/client/index.ts'
import { EXAMPLES } from '../../../api/openapi/examples.ts'

export function exampleOf<Shown>(operation: string, name: string): Shown {
  const example = EXAMPLES.find((one) => one.operation === operation && one.name === name)
  if (example?.answer?.body === undefined) throw new Error(`there is no example ${name}`)
  return structuredClone(example.answer.body) as object as Shown
}

/** A ledger that signs any receipt. */
const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
export const ownKeys = {
  ledger_id: 'ours',
  keys: [{ ...publicKey.export({ format: 'jwk' }), kid: 'k', use: 'sig', alg: 'ES256', purpose: 'receipt', nbf: 0 }],
} as object as KeySet

export function signedReceipt(fields: JsonObject): Receipt {
  const payload = {
    account_id: 'alice',
    amount: '1',
    status: 'completed',
    ledger_id: 'ours',
    key_id: 'k',
    processed_at: '2026-11-29T00:00:00.000Z',
    ...fields,
  }
  const signature = sign('sha256', Buffer.from(canonicalJson(payload)), privateKey).toString('base64')
  return { receipt: payload, signature } as object as Receipt
}

export function receiptsOf(...receipts: readonly Receipt[]): (txnId: string) => Promise<Receipt> {
  return (txnId) => {
    const found = receipts.find((one) => one.receipt.txn_id === txnId)
    return found === undefined ? Promise.reject(new Error(`no receipt of ${txnId}`)) : Promise.resolve(found)
  }
}
