/** Time for the runtime. In the simulation it is the event heap. */
export interface Clock {
  /** Wall clock, milliseconds since 1970. May jump. */
  readonly now: () => number
  /** Milliseconds since some fixed moment; never goes back. */
  readonly monotonic: () => number
  /** Calls back once, after at least `delayMs`; with 0, after the events that have already arrived. */
  readonly after: (delayMs: number, run: () => void) => Timer
}

export interface Timer {
  readonly cancel: () => void
}

/** Runs `work`, which must not reject, `everyMs` after now, and again `everyMs` after the end of each run. */
export function repeat(clock: Clock, everyMs: number, work: () => Promise<unknown>): { readonly stop: () => void } {
  let stopped = false
  let timer: Timer | undefined
  const next = (): void => {
    if (!stopped) timer = clock.after(everyMs, () => void work().finally(next))
  }
  next()
  return {
    stop: () => {
      stopped = true
      timer?.cancel()
    },
  }
}

/** Resolves once `delayMs` have passed. */
export function delay(clock: Pick<Clock, 'after'>, delayMs: number): Promise<void> {
  return new Promise((resolve) => {
    clock.after(delayMs, resolve)
  })
}
