import { encodeUlid } from '../../actors/identifiers.ts'
import type { Random } from '../../runtime/ports/random.ts'

const RANDOM_BYTES = 10

/** A ULID that any edge may make (D1): all that it has beside its time is random. */
export function randomUlid(random: Random, timeMs: number): string {
  const digits = random.hex(RANDOM_BYTES)
  const part = (start: number, end: number): number => Number.parseInt(digits.slice(start, end), 16)
  return encodeUlid({ timeMs, counter: part(0, 4), shardId: part(4, 8), random: part(8, 20) })
}
