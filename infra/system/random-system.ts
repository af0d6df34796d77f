import { randomBytes, randomInt } from 'node:crypto'
import type { Random } from '../../runtime/ports/random.ts'

/** The largest range that `randomInt` takes. */
const LARGEST_RANGE = 2 ** 48 - 1
/** Bytes of a number below 2^48. */
const INTEGER_BYTES = 6
/** Bytes drawn per call: the call costs more than the bytes of a salt. */
const POOL_BYTES = 8_192

/** The operating system's generator. */
export function createSystemRandom(): Random {
  let pool = Buffer.alloc(0)
  let used = 0
  /** Returns the offset of unused bytes in the pool. */
  const reserve = (size: number): number => {
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
      const from = reserve(size)
      return pool.toString('hex', from, from + size)
    },
    integer: (below) => {
      if (below <= LARGEST_RANGE) return randomInt(below)
      const from = reserve(INTEGER_BYTES)
      return pool.readUIntBE(from, INTEGER_BYTES)
    },
  }
}
