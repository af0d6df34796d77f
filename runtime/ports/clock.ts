/** Time, as the runtime may see it. Contract: none to hold but these; the simulated one is the event heap. */
export interface Clock {
  /** Wall clock, milliseconds since 1970. May jump. */
  readonly now: () => number
  /** Milliseconds since some fixed moment; never goes back. */
  readonly monotonic: () => number
  /** Calls back once, not before `delayMs` have passed; with 0, once what has arrived by now has been handled. */
  readonly after: (delayMs: number, run: () => void) => Timer
}

export interface Timer {
  readonly cancel: () => void
}

/** Resolves once `delayMs` have passed. */
export function delay(clock: Clock, delayMs: number): Promise<void> {
  return new Promise((resolve) => {
    clock.after(delayMs, resolve)
  })
}
