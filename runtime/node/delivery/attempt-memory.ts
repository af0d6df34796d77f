/**
 * Which attempt of a request came last. An edge that had no answer asks again; if the earlier attempt is only late, it
 * must not be judged after the later one was refused (I12). So a lower number after a higher is dropped.
 */
import type { Clock } from '../../ports/clock.ts'

/** How long an attempt may be late: longer than any edge waits. */
const MEMORY_MS = 60_000
const MAX_REMEMBERED = 100_000

/** The result returns whether this attempt is the latest seen of its request. */
export function createAttemptMemory(clock: Clock): (requestId: string, attempt: number) => boolean {
  let recent = new Map<string, number>()
  let older = new Map<string, number>()
  let turnedMs = clock.monotonic()

  function turn(): void {
    const nowMs = clock.monotonic()
    if (nowMs - turnedMs < MEMORY_MS && recent.size < MAX_REMEMBERED) return
    older = recent
    recent = new Map()
    turnedMs = nowMs
  }

  return (requestId, attempt) => {
    const latest = recent.get(requestId) ?? older.get(requestId) ?? 0
    if (attempt < latest) return false
    // First attempts are the rule and have nothing before them to be dropped.
    if (attempt > 1) {
      turn()
      recent.set(requestId, attempt)
    }
    return true
  }
}
