import type { Clock } from '../../runtime/ports/clock.ts'

/** A result is reused for this time after the probe began. */
const MAX_AGE_MS = 1_000

/**
 * Shares one probe between all callers, at most one per second and one at a time. So requests without a token cannot
 * overload the probed service.
 */
export function createSharedProbe(clock: Clock, probe: () => Promise<unknown>): () => Promise<boolean> {
  let inFlight: Promise<boolean> | undefined
  let last: { readonly startedAtMs: number; readonly succeeded: boolean } | undefined

  async function run(): Promise<boolean> {
    const startedAtMs = clock.monotonic()
    const succeeded = await probe().then(
      () => true,
      () => false,
    )
    last = { startedAtMs, succeeded }
    inFlight = undefined
    return succeeded
  }

  return () => {
    if (inFlight !== undefined) return inFlight
    if (last !== undefined && clock.monotonic() - last.startedAtMs < MAX_AGE_MS) return Promise.resolve(last.succeeded)
    inFlight = run()
    return inFlight
  }
}
