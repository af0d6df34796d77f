/**
 * Fair shares of an edge for its clients: requests of a busy client wait at the edge, and not in front of the others'
 * requests in the node and in PostgreSQL.
 *   F1. While other clients are active (ACTIVE_MS), a client has no more requests in progress than all the others together ask for,
 *       but always LEAST of them. Without other clients it has as many as it likes.
 *   F2. The requests of a client proceed in their order, and never wait for another client's requests.
 *   F3. A turn that lasts longer than two periods of PERIOD_MS no longer counts: neither a shard without an owner nor a long poll keeps
 *       the client's other requests waiting for long.
 *   F4. At most `maxWaiting` requests of a client wait; beyond, they are refused.
 */
import type { Clock } from '../ports/clock.ts'

export interface ClientTurns {
  /**
   * Begins a request of the client, now or when its turn comes. The result ends it; further calls change nothing.
   * undefined: too many wait.
   */
  readonly begin: (clientId: string) => EndTurn | Promise<EndTurn> | undefined
}

export type EndTurn = () => void

export interface TurnSettings {
  /** Requests in progress that a client may always have. */
  readonly least: number
  readonly maxWaiting: number
}

export const TURN_DEFAULTS: TurnSettings = { least: 4, maxWaiting: 20_000 }

const PERIOD_MS = 50
/** For so long after its last request a client is active. */
const ACTIVE_MS = 1_000
/** Clients that are kept although they may be idle. */
const KEPT_CLIENTS = 1_000

interface ClientState {
  lastMs: number
  /** Number of the period; it changes only while requests wait. */
  period: number
  /** Requests in progress that began in this period, and in the one before. */
  young: number
  old: number
  readonly waiting: ((end: EndTurn) => void)[]
  isTimed: boolean
}

export function createClientTurns(
  clock: Pick<Clock, 'monotonic' | 'after'>,
  { least, maxWaiting }: TurnSettings = TURN_DEFAULTS,
): ClientTurns {
  const clients = createClientStates()

  /** F1. */
  function mayRun(own: ClientState, nowMs: number): boolean {
    const running = own.young + own.old
    return running < least || clients.leave(own, running, nowMs)
  }

  function run(own: ClientState): EndTurn {
    const { period } = own
    let ended = false
    own.young += 1
    return () => {
      if (ended) return
      ended = true
      if (period === own.period) own.young -= 1
      else if (period === own.period - 1) own.old -= 1
      if (own.waiting.length > 0) goOn(own)
    }
  }

  function goOn(own: ClientState): void {
    const nowMs = clock.monotonic()
    while (own.waiting.length > 0 && mayRun(own, nowMs)) own.waiting.shift()?.(run(own))
  }

  /** F3, only while requests wait. */
  function startPeriod(own: ClientState): void {
    if (own.isTimed) return
    own.isTimed = true
    clock.after(PERIOD_MS, () => {
      own.isTimed = false
      own.period += 1
      own.old = own.young
      own.young = 0
      goOn(own)
      if (own.waiting.length > 0) startPeriod(own)
    })
  }

  return {
    begin: (clientId) => {
      const nowMs = clock.monotonic()
      const own = clients.of(clientId, nowMs)
      if (own.waiting.length === 0 && mayRun(own, nowMs)) return run(own)
      if (own.waiting.length >= maxWaiting) return undefined
      const turn = new Promise<EndTurn>((resolve) => own.waiting.push(resolve))
      startPeriod(own)
      return turn
    },
  }
}

/** The clients that sent something lately. */
function createClientStates() {
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
      const created = { lastMs: nowMs, period: 0, young: 0, old: 0, waiting: [], isTimed: false }
      clients.set(clientId, created)
      return created
    },
    /** Whether the active clients leave room for one more than `running` requests of this one. */
    leave(own: ClientState, running: number, nowMs: number): boolean {
      let demand = 0
      let alone = true
      for (const [clientId, other] of clients) {
        if (other === own) continue
        if (nowMs - other.lastMs > ACTIVE_MS && other.waiting.length === 0) {
          if (isIdle(other, nowMs)) clients.delete(clientId)
          continue
        }
        alone = false
        demand += Math.max(1, other.young + other.old + other.waiting.length)
        if (demand > running) return true
      }
      return alone
    },
  }
}

function isIdle({ lastMs, young, old, waiting }: ClientState, nowMs: number): boolean {
  return nowMs - lastMs > ACTIVE_MS && young + old + waiting.length === 0
}
