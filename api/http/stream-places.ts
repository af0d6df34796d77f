/**
 * How many answers are sent as they are made, at a time: each reads again and again for as long as it lasts.
 *   C1. No client has more than its share, so that none keeps the others out.
 */

/** Of the connections that reads have, half are left to all other requests, however many streams there are. */
export const STREAMS_AT_ONCE = 4
export const STREAMS_OF_ONE_CLIENT = 2

export interface StreamPlaces {
  /** Gives the place back, once; undefined: there is none. */
  readonly take: (clientId: string) => (() => void) | undefined
}

export interface StreamBounds {
  readonly total: number
  readonly ofOneClient: number
}

const LISTS: StreamBounds = { total: STREAMS_AT_ONCE, ofOneClient: STREAMS_OF_ONE_CLIENT }

export function createStreamPlaces({ total: most, ofOneClient }: StreamBounds = LISTS): StreamPlaces {
  const taken = new Map<string, number>()
  let total = 0
  return {
    take(clientId) {
      const own = taken.get(clientId) ?? 0
      if (total >= most || own >= ofOneClient) return undefined
      total += 1
      taken.set(clientId, own + 1)
      let isGiven = false
      return () => {
        if (isGiven) return
        isGiven = true
        total -= 1
        const left = (taken.get(clientId) ?? 0) - 1
        if (left > 0) taken.set(clientId, left)
        else taken.delete(clientId)
      }
    },
  }
}
