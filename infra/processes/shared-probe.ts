import type { Clock } from '../../runtime/ports/clock.ts'

/** How long an answer holds, from when it was asked for. */
const HOLDS_MS = 1_000

/**
 * Whether something answers, asked at most once a second and once at a time, however many want to know: whoever may ask
 * without a token must not be able to keep others from what is asked.
 */
export function createSharedProbe(clock: Clock, probe: () => Promise<unknown>): () => Promise<boolean> {
  let underWay: Promise<boolean> | undefined
  let last: { readonly askedAtMs: number; readonly good: boolean } | undefined

  async function ask(): Promise<boolean> {
    const askedAtMs = clock.monotonic()
    const good = await probe().then(
      () => true,
      () => false,
    )
    last = { askedAtMs, good }
    underWay = undefined
    return good
  }

  return () => {
    if (underWay !== undefined) return underWay
    if (last !== undefined && clock.monotonic() - last.askedAtMs < HOLDS_MS) return Promise.resolve(last.good)
    underWay = ask()
    return underWay
  }
}
