/** HMAC-SHA-256 (RFC 2104): derives unpredictable nonces and names from a run's seed. */
import { hash } from 'node:crypto'
import { createBeginnings } from './beginnings.ts'

export const SEED_BYTES = 32
export const KEYED_HASH_BYTES = 32

const BLOCK_BYTES = 64
const INNER = 0x36
const OUTER = 0x5c

export interface KeyedHash {
  /** Writes the hash of `message` into `target`. */
  readonly write: (message: Uint8Array, target: Buffer, at: number) => void
}

/** `seed`: 32 random bytes. `longest`: longest message, in bytes. */
export function createKeyedHash(seed: Uint8Array, longest: number): KeyedHash {
  if (seed.length !== SEED_BYTES) throw new RangeError(`A seed has ${SEED_BYTES} bytes.`)
  const inner = Buffer.alloc(BLOCK_BYTES + longest, INNER)
  const outer = Buffer.alloc(BLOCK_BYTES + KEYED_HASH_BYTES, OUTER)
  seed.forEach((byte, index) => {
    inner[index] = byte ^ INNER
    outer[index] = byte ^ OUTER
  })
  const beginning = createBeginnings(inner)
  return {
    write: (message, target, at) => {
      inner.set(message, BLOCK_BYTES)
      const innerHash = hash('sha256', beginning(BLOCK_BYTES + message.length), 'binary')
      outer.write(innerHash, BLOCK_BYTES, KEYED_HASH_BYTES, 'latin1')
      target.write(hash('sha256', outer, 'binary'), at, KEYED_HASH_BYTES, 'latin1')
    },
  }
}
