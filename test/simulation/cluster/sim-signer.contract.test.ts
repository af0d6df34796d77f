/** The simulated signer under the contract of the real one. Its completions are events. */
import { expect, test } from 'vitest'
import { signerContract } from '../../contract/signer.contract.ts'
import { createKernel } from '../kernel/kernel.ts'
import { createSimSigner, simPublicKey, simReceiptPublicKey, simSign, simVerify } from './sim-signer.ts'

const KEY_ID = 'receipt-key-1'
const NEXT = { receiptKeyId: 'receipt-key-2', fromMs: 1_790_000_000_000 }

signerContract('simulated', () => {
  const kernel = createKernel({ seed: 1 })
  let clients = 0
  return Promise.resolve({
    signer: createSimSigner(kernel.process('node'), kernel.random, { receiptKeyId: KEY_ID, next: NEXT }),
    rotatedAtMs: NEXT.fromMs,
    clientKey: () => {
      clients += 1
      const privateSeed = `client ${clients}`
      return { publicKey: simPublicKey(privateSeed), sign: (payload) => simSign(privateSeed, payload) }
    },
    verifies: (keyId, payload, signature) => simVerify({ publicKey: simReceiptPublicKey(keyId), payload, signature }),
    settle: (work) => kernel.runToEnd(work, 60_000),
    close: () => Promise.resolve(),
  })
})

test('completions come in an order drawn from the seed, and not at all after a crash', async () => {
  const orders = new Set<string>()
  for (let seed = 0; seed < 20; seed += 1) {
    const kernel = createKernel({ seed })
    const process = kernel.process('node')
    const signer = createSimSigner(process, kernel.random, { receiptKeyId: KEY_ID })
    const done: string[] = []
    for (const name of ['a', 'b']) void signer.signMany(KEY_ID, [name]).then(() => done.push(name))
    await kernel.runFor(100)
    orders.add(done.join(''))
    void signer.verifyMany([]).then(() => done.push('after a crash'))
    process.crash()
    await kernel.runFor(100)
    expect(done).toHaveLength(2)
  }
  expect(orders).toEqual(new Set(['ab', 'ba']))
})
