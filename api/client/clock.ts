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
