/**
 * Limits the disk space of runs, so that requests in a loop cannot fill the disk. Runs are kept for a day. The budget is a
 * leaky bucket of bytes that refills within a day.
 *   B1. The runs of any day take at most twice the capacity, plus the run that emptied the bucket.
 *   B2. Occasional requests never wait for room.
 */
export interface StoredRun {
  readonly asOfMs: number
  readonly sizeBytes: number
}

export const KEPT_MS = 86_400_000

/** Whether there is room for another run now. `runs`: the kept runs. */
export function hasRoom(runs: readonly StoredRun[], nowMs: number, capacityBytes: number): boolean {
  const bytesAMs = capacityBytes / KEPT_MS
  let room = capacityBytes
  let before = nowMs - KEPT_MS
  for (const { asOfMs, sizeBytes } of [...runs].sort((one, other) => one.asOfMs - other.asOfMs)) {
    room = Math.min(capacityBytes, room + Math.max(0, asOfMs - before) * bytesAMs) - sizeBytes
    before = Math.max(before, asOfMs)
  }
  return room + (nowMs - before) * bytesAMs > 0
}
