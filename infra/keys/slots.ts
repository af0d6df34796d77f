/** A bound on how much runs at once and how much may wait for it. */
export interface Slots {
  /** Runs the work when a slot is free. Throws SlotsExhausted at once when too much waits already. */
  readonly run: <T>(work: () => Promise<T>) => Promise<T>
}

export class SlotsExhausted extends Error {
  override readonly name = 'SlotsExhausted'
}

export function createSlots(bounds: { readonly concurrency: number; readonly maxWaiting: number }): Slots {
  let running = 0
  const waiting: (() => void)[] = []
  return {
    run: async (work) => {
      if (running < bounds.concurrency) running += 1
      else if (waiting.length >= bounds.maxWaiting) throw new SlotsExhausted('Too much waits already.')
      // Whoever ends hands its slot over: `running` stays as it is.
      else await new Promise<void>((resolve) => waiting.push(resolve))
      try {
        return await work()
      } finally {
        const next = waiting.shift()
        if (next === undefined) running -= 1
        else next()
      }
    },
  }
}
