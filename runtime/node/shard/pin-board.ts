/**
 * A look-up is valid as of its sending. While one is open, later commits must stay in memory, or its stale findings
 * would count: a replay would be taken for new, and an account stepped on an old state.
 *   P1. A pin of a committed batch is released only when every look-up that was open then has closed.
 *   P2. A look-up is open from before its sending until all its commands are settled or dropped.
 */
import type { Clock } from '../../ports/clock.ts'

export interface PinBoard {
  /** Opens a look-up; the returned number closes it. */
  readonly open: () => number
  readonly close: (lookUp: number) => void
  /** Calls back once every look-up that is open now has closed: at once if there is none. */
  readonly pin: (letGo: () => void) => void
  /** Age of the oldest open look-up, milliseconds; 0 if there is none. */
  readonly oldestAgeMs: () => number
}

export function createPinBoard(clock: Pick<Clock, 'monotonic'>): PinBoard {
  /** The time at which each look-up was opened, monotonic milliseconds. */
  const openLookUps = new Map<number, number>()
  const pins: { readonly after: number; readonly letGo: () => void }[] = []
  let latest = 0

  /** Look-ups get ascending numbers and a map keeps insertion order, so the first entry is the oldest. */
  function oldest(): readonly [lookUp: number, openedMs: number] | undefined {
    for (const lookUp of openLookUps) return lookUp
    return undefined
  }

  return {
    open: () => {
      latest += 1
      openLookUps.set(latest, clock.monotonic())
      return latest
    },
    close: (lookUp) => {
      openLookUps.delete(lookUp)
      const [stillOpen] = oldest() ?? [latest + 1]
      let free = 0
      while (free < pins.length && (pins[free]?.after ?? stillOpen) < stillOpen) free += 1
      for (const pin of pins.splice(0, free)) pin.letGo()
    },
    pin: (letGo) => {
      if (openLookUps.size === 0) letGo()
      else pins.push({ after: latest, letGo })
    },
    oldestAgeMs: () => {
      const open = oldest()
      return open === undefined ? 0 : clock.monotonic() - open[1]
    },
  }
}
