/** Entries of the log: api/client/log/log-entry.ts has their bytes, and computes them for those who verify. */
import { sha256 } from '../../runtime/common/sha256.ts'

export const SALT_BYTES = 32
export const ENTRY_BYTES = 48

export const TAG_BYTES = 16
const SEQUENCE_BYTES = 8
const BLOCK_BYTES = 64
const KEY_BYTES = 32
const [INNER_PAD, OUTER_PAD] = [0x36, 0x5c]
const inner = Buffer.alloc(BLOCK_BYTES, INNER_PAD)
/** Ends with the inner hash. */
const outer = Buffer.alloc(BLOCK_BYTES + 32, OUTER_PAD)
const TAG_PREFIX = Buffer.from('ledger log tag\0')
const COMMITMENT_PREFIX = Buffer.from('ledger log entry\0')

/** The account's log key. `ledgerKey`: the secret from which those of all accounts follow. */
export function accountLogKey(ledgerKey: Buffer, accountRef: string): Buffer {
  return hmac(ledgerKey, Buffer.from(accountRef))
}

/** In the place of an account's key: the entries of statements look like all others. No reference has this name. */
export function statementLogKey(ledgerKey: Buffer): Buffer {
  return accountLogKey(ledgerKey, 'statements of checkpoint files')
}

/** In the place of an account's key, for the administrative chain. No reference has this name. */
export function administrativeLogKey(ledgerKey: Buffer): Buffer {
  return accountLogKey(ledgerKey, 'administrative chain')
}

/** Computes the salts of an account. */
export class EntrySalts {
  private readonly accountKey: Buffer
  private readonly number = Buffer.alloc(SEQUENCE_BYTES)

  constructor(accountKey: Buffer) {
    this.accountKey = accountKey
  }

  of(sequence: number): Buffer {
    this.number.writeBigUInt64BE(BigInt(sequence))
    return hmac(this.accountKey, this.number)
  }
}

/** HMAC-SHA256 (RFC 2104) with a key of 32 bytes. `createHmac` takes three times as long, twice for each entry. */
function hmac(key: Buffer, message: Buffer): Buffer {
  if (key.length !== KEY_BYTES) throw new RangeError(`a key of the log has ${KEY_BYTES} bytes`)
  for (let at = 0; at < KEY_BYTES; at += 1) {
    const byte = key[at] ?? 0
    inner[at] = byte ^ INNER_PAD
    outer[at] = byte ^ OUTER_PAD
  }
  sha256(Buffer.concat([inner, message])).copy(outer, BLOCK_BYTES)
  return sha256(outer)
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
