/**
 * Derives from recent commits whether the store accepts this node's commits.
 *   C1. Commits are failing once the store has refused a commit for a cause outside its rows, or has not replied to a
 *       commit for `HANGS_AFTER_MS`.
 *   C2. Commits are healthy again once rows are written, or once a probe succeeds that started `SETTLES_AFTER_MS` or later
 *       after the last failure. Without that delay, a store that accepts probes but no orders would alternate between
 *       failing and healthy.
 */
import type { Clock } from '../../ports/clock.ts'

export const HANGS_AFTER_MS = 2_000
export const SETTLES_AFTER_MS = 2_000

export interface CommitHealth {
  readonly sent: () => void
  readonly answered: (wroteRows: boolean) => void
  /** The store refused a commit for a cause outside its rows. */
  readonly refused: () => void
  readonly fails: () => boolean
  /** Whether a probe that starts now can prove that commits are healthy (C2). */
  readonly mayProve: () => boolean
  /** Such a probe has succeeded. */
  readonly proved: () => void
}

export function createCommitHealth(clock: Pick<Clock, 'monotonic'>): CommitHealth {
  let sentMs: number | undefined
  let failedMs: number | undefined

  const hangs = (): boolean => sentMs !== undefined && clock.monotonic() - sentMs >= HANGS_AFTER_MS

  return {
    sent: () => {
      sentMs = clock.monotonic()
    },
    answered: (wroteRows) => {
      if (hangs()) failedMs = clock.monotonic()
      sentMs = undefined
      if (wroteRows) failedMs = undefined
    },
    refused: () => {
      failedMs = clock.monotonic()
    },
    fails: () => failedMs !== undefined || hangs(),
    mayProve: () => !hangs() && (failedMs === undefined || clock.monotonic() - failedMs >= SETTLES_AFTER_MS),
    proved: () => {
      // A failure after the probe's start outweighs the probe.
      if (failedMs !== undefined && clock.monotonic() - failedMs >= SETTLES_AFTER_MS) failedMs = undefined
    },
  }
}
