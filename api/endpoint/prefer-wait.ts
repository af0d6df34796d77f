/**
 * `Prefer: wait=N` (RFC 7240, D8): an answer that is not final is looked at again until it is, or N seconds have passed.
 *   W1. At most 256 requests wait at a time; beyond, the answer is immediate.
 *   W2. That number and the interval between looks bound the load of waiting on the store.
 *   W3. Each look checks the client's token and scope again (E3).
 */
import type { AccountScope } from '../../actors/account-scope.ts'
import { ok, type Result } from '../../actors/result.ts'
import { type Clock, delay } from '../../runtime/ports/clock.ts'
import type { Problem } from '../http/problem.ts'
import type { GuardedCall } from './route.ts'

const MAX_WAITING = 256
const MAX_WAIT_S = 30
const FIRST_INTERVAL_MS = 10
/** Each look comes half as late again as the one before: the answer is late by a third of what it took at most. */
const GROWTH = 1.5
const MAX_INTERVAL_MS = 1000

const WAIT = /(?:^|[,;])[ \t]*wait[ \t]*=[ \t]*"?([0-9]+)"?[ \t]*(?=$|[,;])/i

export interface Waiting<T> {
  readonly value: T
  /** The scope of the last look. */
  readonly scope: AccountScope
  /** The header `Preference-Applied`. */
  readonly headers: Readonly<Record<string, string>>
}

type Seen<T> = Omit<Waiting<T>, 'headers'>

export interface PreferWait {
  /** Looks until the value is final; a problem where the client may not look any more. */
  readonly until: <T>(
    call: Pick<GuardedCall, 'http' | 'scope' | 'admitAgain' | 'endTurn'>,
    look: (scope: AccountScope) => Promise<T>,
    isFinal: (value: T) => boolean,
  ) => Promise<Result<Waiting<T>, Problem>>
}

export function createPreferWait(clock: Clock): PreferWait {
  let waiting = 0

  async function lookAgain<T>(
    first: Seen<T>,
    waitMs: number,
    look: () => Promise<Result<Seen<T>, Problem>>,
    isFinal: (value: T) => boolean,
  ): Promise<Result<Seen<T>, Problem>> {
    const deadlineMs = clock.monotonic() + waitMs
    let seen: Result<Seen<T>, Problem> = ok(first)
    let intervalMs = FIRST_INTERVAL_MS
    for (;;) {
      const leftMs = deadlineMs - clock.monotonic()
      if (!seen.ok || isFinal(seen.value.value) || leftMs <= 0) return seen
      await delay(clock, Math.min(intervalMs, leftMs))
      seen = await look()
      intervalMs = Math.min(intervalMs * GROWTH, MAX_INTERVAL_MS)
    }
  }

  return {
    async until({ http, scope, admitAgain, endTurn }, look, isFinal) {
      const first = { value: await look(scope), scope }
      const waitS = preferredWaitS(http)
      if (waitS === undefined || (waiting >= MAX_WAITING && !isFinal(first.value))) return ok({ ...first, headers: {} })
      const again = async () => {
        const grant = await admitAgain()
        return grant.ok ? ok({ value: await look(grant.value.scope), scope: grant.value.scope }) : grant
      }
      endTurn()
      waiting += 1
      try {
        const seen = await lookAgain(first, waitS * 1000, again, isFinal)
        return seen.ok
          ? ok({ ...seen.value, headers: { 'preference-applied': `wait=${waitS}`, vary: 'Prefer' } })
          : seen
      } finally {
        waiting -= 1
      }
    },
  }
}

/** Seconds, at most 30; undefined: the client does not ask to wait. */
export function preferredWaitS({ req }: GuardedCall['http']): number | undefined {
  const asked = WAIT.exec(req.header('prefer') ?? '')?.[1]
  return asked === undefined ? undefined : Math.min(Number(asked), MAX_WAIT_S)
}
