/**
 * A costly answer that many want: asked once at a time, kept for at least a second and for nine times what it took, so
 * that it never takes more than a tenth of the server's time however often it is wanted. A failure is kept, too.
 */
import type { Clock } from '../../runtime/ports/clock.ts'

const MIN_KEPT_MS = 1_000
const KEPT_PER_TAKEN = 9

export function createSharedReading<T>(clock: Pick<Clock, 'monotonic'>, read: () => Promise<T>): () => Promise<T> {
  let last: Promise<T> | undefined
  let keptUntilMs = 0

  return () => {
    if (last !== undefined && clock.monotonic() < keptUntilMs) return last
    const startedMs = clock.monotonic()
    // While it is under way everybody shares it.
    keptUntilMs = Infinity
    last = read().finally(() => {
      const endedMs = clock.monotonic()
      keptUntilMs = endedMs + Math.max(MIN_KEPT_MS, KEPT_PER_TAKEN * (endedMs - startedMs))
    })
    return last
  }
}
