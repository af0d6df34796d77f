/**
 * Fair shares of an edge for its clients: requests of a busy client wait at the edge, and not in front of the others'
 * requests in the node and in PostgreSQL.
 *   F1. While other clients are active (ACTIVE_MS), a client has no more requests in progress than all the others together ask
 *       for, but always `least` of them. Without other clients it has as many as it likes.
 *   F2. The requests of a client proceed in their order, and never wait for another client's requests.
 *   F3. A turn counts for `periodMs` to twice that: neither a shard without an owner nor a long poll keeps the client's other
 *       requests waiting for longer.
 *   F4. Fewer than `maxWaiting` requests wait at the edge. A client has at most half of the places that the others leave.
 *   F5. A request waits at most for `maxWaitMs`.
 *   F6. A search keeps PostgreSQL busy for longer than that. While other clients are active, a client has one search in
 *       progress, which counts until it ends, and at most for twice `periodMs`.
 */
import type { Clock } from '../ports/clock.ts'

export interface ClientTurns {
  /** Begins a request of the client when its turn comes. undefined: too many wait, or it waited for too long (F4, F5). */
  readonly begin: (clientId: string) => Promise<Turn | undefined>
  /** Whether another client is active (F1). */
  readonly hasOthers: (clientId: string) => boolean
}

export interface Turn {
  /** Whether the request had to wait: its client may have gone. */
  readonly waited: boolean
  /** Further calls change nothing. */
  readonly end: () => void
}

export interface TurnSettings {
  /** Requests in progress that a client may always have. */
  readonly least: number
  readonly maxWaiting: number
  readonly maxWaitMs: number
  /** F3. */
  readonly periodMs: number
}

/** Wait and deadline of an order (gateway.ts) together are shorter than clients wait. */
export const TURN_DEFAULTS: TurnSettings = { least: 4, maxWaiting: 20_000, maxWaitMs: 5_000, periodMs: 50 }
/** F6. */
const SEARCHES: TurnSettings = { least: 1, maxWaiting: 1_000, maxWaitMs: 5_000, periodMs: 10_000 }

/** While requests wait, their client is looked at in this interval. */
const CHECK_MS = 50
/** For so long after its last request a client is active. */
const ACTIVE_MS = 1_000
/** Clients that are kept although they may be idle. */
const KEPT_CLIENTS = 1_000

interface ClientState {
  readonly clientId: string
  lastMs: number
  /** Number of the period in which `young` turns began; `old` ones began in the period before. */
  period: number
  young: number
  old: number
  readonly waiting: { readonly sinceMs: number; readonly resolve: (turn: Turn | undefined) => void }[]
  isTimed: boolean
}

export function createClientTurns(
  clock: Pick<Clock, 'monotonic' | 'after'>,
  { least, maxWaiting, maxWaitMs, periodMs }: TurnSettings = TURN_DEFAULTS,
  others?: Pick<ClientTurns, 'hasOthers'>,
): ClientTurns {
  const clients = createClientStates(periodMs)
  let waitingOfAll = 0

  /** F1. */
  function mayRun(own: ClientState, nowMs: number): boolean {
    const running = runningOf(own, nowMs, periodMs)
    if (running < least) return true
    return others === undefined ? clients.leave(own, running, nowMs) : !others.hasOthers(own.clientId)
  }

  /** After `mayRun`, at the same time. */
  function run(own: ClientState, waited: boolean): Turn {
    const { period } = own
    let ended = false
    own.young += 1
    return {
      waited,
      end: () => {
        if (ended) return
        ended = true
        if (period === own.period) own.young -= 1
        else if (period === own.period - 1) own.old -= 1
        if (own.waiting.length > 0) goOn(own)
      },
    }
  }

  function goOn(own: ClientState): void {
    const nowMs = clock.monotonic()
    for (let [next] = own.waiting; next !== undefined; [next] = own.waiting) {
      const isLate = nowMs - next.sinceMs >= maxWaitMs
      if (!isLate && !mayRun(own, nowMs)) return
      own.waiting.shift()
      waitingOfAll -= 1
      next.resolve(isLate ? undefined : run(own, true))
    }
  }

  /** F3 and F5, only while requests wait. */
  function goOnLater(own: ClientState): void {
    if (own.isTimed) return
    own.isTimed = true
    clock.after(CHECK_MS, () => {
      own.isTimed = false
      goOn(own)
      if (own.waiting.length > 0) goOnLater(own)
    })
  }

  return {
    begin: async (clientId) => {
      const nowMs = clock.monotonic()
      const own = clients.of(clientId, nowMs)
      if (own.waiting.length === 0 && mayRun(own, nowMs)) return run(own, false)
      if (own.waiting.length >= maxWaiting - waitingOfAll) return undefined
      waitingOfAll += 1
      const turn = new Promise<Turn | undefined>((resolve) => own.waiting.push({ sinceMs: nowMs, resolve }))
      goOnLater(own)
      return turn
    },
    hasOthers: (clientId) => clients.hasOthers(clientId, clock.monotonic()),
  }
}

/** F6. `turns`: of all requests. */
export function createSearchTurns(
  clock: Pick<Clock, 'monotonic' | 'after'>,
  turns: Pick<ClientTurns, 'hasOthers'>,
): ClientTurns {
  return createClientTurns(clock, SEARCHES, turns)
}

/** F3. */
function runningOf(own: ClientState, nowMs: number, periodMs: number): number {
  const period = Math.floor(nowMs / periodMs)
  if (period > own.period) {
    own.old = period === own.period + 1 ? own.young : 0
    own.young = 0
    own.period = period
  }
  return own.young + own.old
}

/** The clients that sent something lately. */
function createClientStates(periodMs: number) {
  const clients = new Map<string, ClientState>()
  return {
    of(clientId: string, nowMs: number): ClientState {
      const known = clients.get(clientId)
      if (known !== undefined) {
        known.lastMs = nowMs
        return known
      }
      if (clients.size >= KEPT_CLIENTS) {
        for (const [other, state] of clients) if (isIdle(state, nowMs)) clients.delete(other)
      }
      const created = { clientId, lastMs: nowMs, period: 0, young: 0, old: 0, waiting: [], isTimed: false }
      clients.set(clientId, created)
      return created
    },
    hasOthers(clientId: string, nowMs: number): boolean {
      for (const other of clients.values()) if (other.clientId !== clientId && !isIdle(other, nowMs)) return true
      return false
    },
    /** Whether the active clients leave room for one more than `running` requests of this one. */
    leave(own: ClientState, running: number, nowMs: number): boolean {
      let demand = 0
      let alone = true
      for (const [clientId, other] of clients) {
        if (other === own) continue
        if (isIdle(other, nowMs)) {
          clients.delete(clientId)
          continue
        }
        alone = false
        demand += Math.max(1, runningOf(other, nowMs, periodMs) + other.waiting.length)
        if (demand > running) return true
      }
      return alone
    },
  }
}

/** A client whose turns last longer than ACTIVE_MS is idle, too: they count no longer (F3). */
function isIdle({ lastMs, waiting }: ClientState, nowMs: number): boolean {
  return nowMs - lastMs > ACTIVE_MS && waiting.length === 0
}
