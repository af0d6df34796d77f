/** The ledger and the client compute the same entries. The client's are of WebCrypto. */
import { createHmac, randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import * as client from '../../../api/client/log/log-entry.ts'
import { ENTRY_BYTES, EntrySalts, logEntry } from '../../../infra/log/log-entry.ts'

test.for([0, 1, 2 ** 32, Number.MAX_SAFE_INTEGER])('salt and entry of sequence %d', async (sequence) => {
  const [accountKey, auditHash] = [randomBytes(32), randomBytes(32)]
  const number = Buffer.alloc(8)
  number.writeBigUInt64BE(BigInt(sequence))
  const salts = new EntrySalts(accountKey)
  // One object computes the salts of several entries.
  salts.of(7)
  const salt = salts.of(sequence)
  expect(salt).toEqual(createHmac('sha256', accountKey).update(number).digest())
  expect(new Uint8Array(salt)).toEqual(await client.entrySalt(new Uint8Array(accountKey), sequence))
  const entry = logEntry(salt, auditHash)
  expect(entry).toHaveLength(ENTRY_BYTES)
  expect(new Uint8Array(entry)).toEqual(
    await client.logEntry(new Uint8Array(salt), `sha256:${auditHash.toString('hex')}`),
  )
})
