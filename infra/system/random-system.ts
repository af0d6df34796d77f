import { randomBytes, randomInt } from 'node:crypto'
import type { Random } from '../../runtime/ports/random.ts'

/** The largest range that `randomInt` takes. */
const LARGEST_RANGE = 2 ** 48 - 1
/** Bytes drawn at a time: a call of the generator costs more than a salt's bytes do. */
const POOL_BYTES = 8_192

/** The operating system's generator. */
export function createSystemRandom(): Random {
  let pool = Buffer.alloc(0)
  let used = 0
  const hex = (size: number): string => {
    if (size > POOL_BYTES) return randomBytes(size).toString('hex')
    if (used + size > pool.length) {
      pool = randomBytes(POOL_BYTES)
      used = 0
    }
    used += size
    return pool.toString('hex', used - size, used)
  }
  return {
    hex,
    integer: (below) => (below > LARGEST_RANGE ? randomBytes(6).readUIntBE(0, 6) : randomInt(below)),
  }
}
