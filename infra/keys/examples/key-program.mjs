/**
 * An example of a key program (../outside/key-protocol.ts), to begin with for the KMS of a cloud: replace the three functions
 * of `operations` by calls of the KMS. It keeps its keys in a directory, so it protects nothing itself.
 *   node key-program.mjs DIRECTORY     DIRECTORY has NAME.pem (a P-256 private key) and NAME.mac (32 bytes in base64)
 */
import { createHmac, createPrivateKey, createPublicKey } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { p256 } from '@noble/curves/nist.js'

const directory = process.argv[2] ?? '.'

const operations = {
  // AWS KMS: GenerateMac with HMAC_SHA_256. Google Cloud KMS: macSign.
  async mac(key, data) {
    const secret = Buffer.from(await readFile(join(directory, `${key}.mac`), 'utf8'), 'base64')
    return data.map((item) => createHmac('sha256', secret).update(item).digest())
  },
  // AWS KMS: Sign with ECDSA_SHA_256 and MessageType DIGEST, each item at once with others. Google Cloud KMS: asymmetricSign.
  async sign(key, digests) {
    const { d } = createPrivateKey(await readFile(join(directory, `${key}.pem`))).export({ format: 'jwk' })
    return digests.map((digest) => Buffer.from(p256.sign(digest, Buffer.from(d, 'base64url'), { prehash: false })))
  },
  // AWS KMS: GetPublicKey. Google Cloud KMS: getPublicKey.
  async public_key(key) {
    const privateKey = createPrivateKey(await readFile(join(directory, `${key}.pem`)))
    return [createPublicKey(privateKey).export({ format: 'der', type: 'spki' })]
  },
}

for await (const line of createInterface({ input: process.stdin })) {
  const { id, op, key, data } = JSON.parse(line)
  // Requests run at the same time, and replies may come in any order.
  operations[op](
    key,
    data.map((item) => Buffer.from(item, 'base64')),
  )
    .then((results) => ({ id, results: results.map((bytes) => bytes.toString('base64')) }))
    // Only a code: the ledger logs it. Never the text of an error.
    .catch((error) => ({ id, error: error.code === 'ENOENT' ? 'key_not_found' : 'failed' }))
    .then((reply) => process.stdout.write(`${JSON.stringify(reply)}\n`))
}
