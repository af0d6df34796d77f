import { randomBytes, randomInt } from 'node:crypto'
import type { Random } from '../../runtime/ports/random.ts'

/** The largest range that `randomInt` takes. */
const LARGEST_RANGE = 2 ** 48 - 1
/** Bytes of a number below 2^48. */
const INTEGER_BYTES = 6
/** Bytes drawn at a time: a call of the generator costs more than a salt's bytes do. */
const POOL_BYTES = 8_192

/** The operating system's generator. */
export function createSystemRandom(): Random {
  let pool = Buffer.alloc(0)
  let used = 0
  /** Where in the pool as many fresh bytes are. */
  const drawn = (size: number): number => {
    if (used + size > pool.length) {
      pool = randomBytes(POOL_BYTES)
      used = 0
    }
    used += size
    return used - size
  }
  return {
    hex: (size) => {
      if (size > POOL_BYTES) return randomBytes(size).toString('hex')
      const from = drawn(size)
      return pool.toString('hex', from, from + size)
    },
    integer: (below) => {
      if (below <= LARGEST_RANGE) return randomInt(below)
      const from = drawn(INTEGER_BYTES)
      return pool.readUIntBE(from, INTEGER_BYTES)
    },
  }
}
