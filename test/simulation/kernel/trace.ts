/**
 * The events of a simulated run as a hash: the same seed must give the same hash in every run. The last lines are
 * always kept for a failing seed, the whole trace only on request.
 */
export interface Trace {
  readonly record: (line: string) => void
  /** 16 hexadecimal digits over every line so far. */
  readonly hash: () => string
  /** Every line if the whole trace is kept, otherwise the last ones. */
  readonly lines: () => readonly string[]
}

/** Lines kept unless the whole trace is kept. */
const TAIL_LINES = 400
const FNV_PRIME = 0x01000193
const FNV_OFFSET = 0x811c9dc5
/** A second lane with another start and multiplier, so that a collision must hit both. */
const OTHER_OFFSET = 0x2545f491
const OTHER_PRIME = 0x85ebca6b

export function createTrace(keepWhole: boolean): Trace {
  let first = FNV_OFFSET
  let second = OTHER_OFFSET
  let kept: string[] = []
  return {
    record: (line) => {
      for (let index = 0; index < line.length; index += 1) {
        const unit = line.charCodeAt(index)
        first = Math.imul(first ^ unit, FNV_PRIME)
        second = Math.imul(second ^ unit, OTHER_PRIME) ^ (second >>> 15)
      }
      first = Math.imul(first ^ 10, FNV_PRIME)
      second = Math.imul(second ^ 10, OTHER_PRIME)
      kept.push(line)
      if (!keepWhole && kept.length >= 2 * TAIL_LINES) kept = kept.slice(TAIL_LINES)
    },
    hash: () => hex32(first) + hex32(second),
    lines: () => (keepWhole ? kept : kept.slice(-TAIL_LINES)),
  }
}

/** FNV-1a, for seeds and fake digests. */
export function hash32(text: string, start = FNV_OFFSET): number {
  let hash = start
  for (let index = 0; index < text.length; index += 1) hash = Math.imul(hash ^ text.charCodeAt(index), FNV_PRIME)
  return hash >>> 0
}

function hex32(value: number): string {
  return (value >>> 0).toString(16).padStart(8, '0')
}
