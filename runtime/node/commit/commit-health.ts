/**
 * Derives from recent commits whether the store accepts this node's commits.
 *   C1. Commits are failing once one was refused for a cause outside its rows, or has taken `HANGS_AFTER_MS`: its signatures
 *       or the reply of the store.
 *   C2. Commits are healthy again once rows are written, or once a probe succeeds that started `SETTLES_AFTER_MS` or
 *       later after the last failure. Without that delay, a store that accepts probes but no orders would alternate
 *       between failing and healthy.
 */
import type { Clock } from '../../ports/clock.ts'

export const HANGS_AFTER_MS = 2_000
export const SETTLES_AFTER_MS = 2_000

export type CommitHealth = ReturnType<typeof createCommitHealth>

export function createCommitHealth(clock: Pick<Clock, 'monotonic'>) {
  let sentMs: number | undefined
  let failedMs: number | undefined

  const hangs = (): boolean => sentMs !== undefined && clock.monotonic() - sentMs >= HANGS_AFTER_MS

  return {
    sent: (): void => {
      sentMs = clock.monotonic()
    },
    answered: (wroteRows: boolean): void => {
      if (hangs()) failedMs = clock.monotonic()
      sentMs = undefined
      if (wroteRows) failedMs = undefined
    },
    /** The store refused a commit for a cause outside its rows. */
    refused: (): void => {
      failedMs = clock.monotonic()
    },
    fails: (): boolean => failedMs !== undefined || hangs(),
    /** Whether a probe that starts now can prove that commits are healthy (C2). */
    mayProve: (): boolean => !hangs() && (failedMs === undefined || clock.monotonic() - failedMs >= SETTLES_AFTER_MS),
    proved: (): void => {
      // A failure after the probe's start outweighs the probe.
      if (failedMs !== undefined && clock.monotonic() - failedMs >= SETTLES_AFTER_MS) failedMs = undefined
    },
  }
}
