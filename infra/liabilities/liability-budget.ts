/**
 * How much runs of the proof of liabilities may leave behind. Each is kept for a day, so that whoever asks in a loop
 * must not fill the disk: a bucket of bytes that runs take from and that fills up again within a day.
 *   B1. What the runs of any day leave behind is at most twice the capacity, and the run that emptied the bucket.
 *   B2. Nobody who asks now and then ever waits for room.
 */
export interface StoredRun {
  readonly asOfMs: number
  readonly sizeBytes: number
}

export const KEPT_MS = 86_400_000

/** Whether there is room for one more run now. `runs`: those that are still kept. */
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
