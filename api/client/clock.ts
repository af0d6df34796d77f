/** Time and chance, which tests replace. */
export interface Clock {
  /** Milliseconds since 1970. */
  readonly nowMs: () => number
  /** Rejects with the signal's reason. */
  readonly sleep: (durationMs: number, signal?: AbortSignal) => Promise<void>
  /** From 0 to below 1. */
  readonly random: () => number
}

export const SYSTEM_CLOCK: Clock = {
  nowMs: () => Date.now(),
  sleep: (durationMs, signal) =>
    new Promise((resolve, reject) => {
      signal?.throwIfAborted()
      const stop = (): void => {
        clearTimeout(timer)
        reject(signal?.reason)
      }
      const timer = setTimeout(() => {
        signal?.removeEventListener('abort', stop)
        resolve()
      }, durationMs)
      signal?.addEventListener('abort', stop, { once: true })
    }),
  random: () => Math.random(),
}

/** The work, which goes on, or a rejection with the reason of the signal as soon as it aborts. */
export function untilAborted<Result>(work: Promise<Result>, signal: AbortSignal | undefined): Promise<Result> {
  if (signal === undefined) return work
  return new Promise((resolve, reject) => {
    const stop = (): void => reject(signal.reason)
    signal.addEventListener('abort', stop, { once: true })
    if (signal.aborted) stop()
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop))
  })
}
