/** Bounds for concurrent and waiting work. */
export interface Slots {
  /** Runs the work when a slot is free. Throws SlotsExhausted at once if too many tasks wait. */
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
      else if (waiting.length >= bounds.maxWaiting) throw new SlotsExhausted('Too many tasks are waiting.')
      // A task that ends hands its slot over: `running` stays as it is.
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

/** Shared slots with a limit, `maxPerHolder`, on one holder's running and waiting work. */
export interface SharedSlots {
  /** Throws SlotsExhausted at once if the holder has reached its limit, or too many tasks wait. */
  readonly run: <T>(holder: string, work: () => Promise<T>) => Promise<T>
}

export function createSharedSlots(bounds: {
  readonly concurrency: number
  readonly maxWaiting: number
  readonly maxPerHolder: number
}): SharedSlots {
  const slots = createSlots(bounds)
  const held = new Map<string, number>()
  return {
    run: async (holder, work) => {
      const before = held.get(holder) ?? 0
      if (before >= bounds.maxPerHolder) throw new SlotsExhausted('The holder has reached its limit.')
      held.set(holder, before + 1)
      try {
        return await slots.run(work)
      } finally {
        const left = (held.get(holder) ?? 1) - 1
        if (left > 0) held.set(holder, left)
        else held.delete(holder)
      }
    },
  }
}

/** Separate slots for each holder. */
export function createSlotsPerHolder(bounds: Parameters<typeof createSlots>[0]): SharedSlots {
  const holders = new Map<string, { readonly slots: Slots; held: number }>()
  return {
    run: async (holder, work) => {
      const own = holders.get(holder) ?? { slots: createSlots(bounds), held: 0 }
      holders.set(holder, own)
      own.held += 1
      try {
        return await own.slots.run(work)
      } finally {
        own.held -= 1
        if (own.held === 0) holders.delete(holder)
      }
    },
  }
}
