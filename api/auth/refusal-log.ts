/**
 * Logs refused logins: the first at once, then one line for each interval. A line for each login would let a sender
 * without credentials fill a disk.
 */
import type { Clock } from '../../runtime/ports/clock.ts'
import type { Log } from '../../runtime/ports/log.ts'

export interface RefusalLog {
  /** `address`: of the sender. `cause`: in snake_case. */
  readonly note: (cause: string, address: string) => void
  /** Logs the refusals of an interval that has ended. */
  readonly flush: () => void
}

const INTERVAL_MS = 10_000
/** Limit on the addresses counted separately in an interval. */
const MAX_ADDRESSES = 1_000

export function createRefusalLog(clock: Pick<Clock, 'monotonic'>, log: Log): RefusalLog {
  let byCause = new Map<string, number>()
  let byAddress = new Map<string, number>()
  let loggedAtMs = -Infinity

  function flush(): void {
    if (byCause.size === 0 || clock.monotonic() - loggedAtMs < INTERVAL_MS) return
    const [address, count] = [...byAddress].reduce((most, one) => (one[1] > most[1] ? one : most))
    log.warn('logins_refused', {
      addresses: byAddress.size,
      top_address: address,
      top_address_count: count,
      ...Object.fromEntries([...byCause].map(([cause, refused]) => [`${cause}_count`, refused])),
    })
    byCause = new Map()
    byAddress = new Map()
    loggedAtMs = clock.monotonic()
  }

  return {
    note(cause, address) {
      byCause.set(cause, (byCause.get(cause) ?? 0) + 1)
      const counted = byAddress.get(address)
      if (counted !== undefined || byAddress.size < MAX_ADDRESSES) byAddress.set(address, (counted ?? 0) + 1)
      flush()
    },
    flush,
  }
}
