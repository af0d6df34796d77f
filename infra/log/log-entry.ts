/** Entries of the log: api/client/log/log-entry.ts has their bytes, and computes them for those who verify. */
import { createHmac } from 'node:crypto'
import { sha256 } from '../../runtime/common/sha256.ts'

export const SALT_BYTES = 32
export const ENTRY_BYTES = 48

export const TAG_BYTES = 16
const SEQUENCE_BYTES = 8
const BLOCK_BYTES = 64
const [INNER_PAD, OUTER_PAD] = [0x36, 0x5c]
const TAG_PREFIX = Buffer.from('ledger log tag\0')
const COMMITMENT_PREFIX = Buffer.from('ledger log entry\0')

/** The account's log key. `ledgerKey`: the secret from which those of all accounts follow. */
export function accountLogKey(ledgerKey: Buffer, accountRef: string): Buffer {
  return createHmac('sha256', ledgerKey).update(accountRef).digest()
}

/** In the place of an account's key: the entries of statements look like all others. No reference has this name. */
export function statementLogKey(ledgerKey: Buffer): Buffer {
  return accountLogKey(ledgerKey, 'statements of checkpoint files')
}

/** Computes the salts of an account. HMAC-SHA256 by hand: `createHmac` takes three times as long, for each entry. */
export class EntrySalts {
  private readonly inner: Buffer
  private readonly outer: Buffer

  constructor(accountKey: Buffer) {
    this.inner = padded(accountKey, INNER_PAD, SEQUENCE_BYTES)
    this.outer = padded(accountKey, OUTER_PAD, SALT_BYTES)
  }

  of(sequence: number): Buffer {
    this.inner.writeBigUInt64BE(BigInt(sequence), BLOCK_BYTES)
    sha256(this.inner).copy(this.outer, BLOCK_BYTES)
    return sha256(this.outer)
  }
}

/** A block of HMAC (RFC 2104), with room for what follows it. */
function padded(key: Buffer, pad: number, roomBytes: number): Buffer {
  const block = Buffer.alloc(BLOCK_BYTES + roomBytes)
  key.copy(block)
  for (let at = 0; at < BLOCK_BYTES; at += 1) block[at] = (block[at] ?? 0) ^ pad
  return block
}

/** 48 bytes. `auditHash`: 32 bytes. */
export function logEntry(salt: Buffer, auditHash: Buffer): Buffer {
  return Buffer.concat([tagOfSalt(salt), sha256(Buffer.concat([COMMITMENT_PREFIX, salt, auditHash]))])
}

/** 16 bytes. */
export function tagOfSalt(salt: Buffer): Buffer {
  return sha256(Buffer.concat([TAG_PREFIX, salt])).subarray(0, TAG_BYTES)
}

export function tagOfEntry(entry: Buffer): Buffer {
  return entry.subarray(0, TAG_BYTES)
}
