/** Entries of the log: api/client/log/log-entry.ts has their bytes, and computes them for those who verify. */
import { createHmac, hash } from 'node:crypto'

export const SALT_BYTES = 32
export const ENTRY_BYTES = 48

const TAG_BYTES = 16
const SEQUENCE_BYTES = 8
const TAG_PREFIX = Buffer.from('ledger log tag\0')
const COMMITMENT_PREFIX = Buffer.from('ledger log entry\0')

/** The account's log key. `ledgerKey`: the secret from which those of all accounts follow. */
export function accountLogKey(ledgerKey: Buffer, accountRef: string): Buffer {
  return createHmac('sha256', ledgerKey).update(accountRef).digest()
}

export function entrySalt(accountKey: Buffer, sequence: number): Buffer {
  const number = Buffer.alloc(SEQUENCE_BYTES)
  number.writeBigUInt64BE(BigInt(sequence))
  return createHmac('sha256', accountKey).update(number).digest()
}

/** 48 bytes. `auditHash`: 32 bytes. */
export function logEntry(salt: Buffer, auditHash: Buffer): Buffer {
  const tag = hash('sha256', Buffer.concat([TAG_PREFIX, salt]), 'buffer').subarray(0, TAG_BYTES)
  const commitment = hash('sha256', Buffer.concat([COMMITMENT_PREFIX, salt, auditHash]), 'buffer')
  return Buffer.concat([tag, commitment])
}
