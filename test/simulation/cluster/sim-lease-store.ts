/**
 * The simulated lease store: a server with compare-and-set by revision, one write after the other, and the LeaseStore
 * of one incarnation. Its faults are those of a JetStream bucket.
 *   S1. A write takes effect completely at one moment between call and answer, or never; its answer may be lost.
 *   S2. Revisions grow over the whole store, until it is emptied or rewound.
 */
import {
  LeaseStoreUnavailable,
  type LeaseStore,
  type ListedSession,
  type Revision,
  type SessionRecord,
  type ShardHint,
  type Watch,
} from '../../../runtime/ports/lease-store.ts'
import type { Kernel } from '../kernel/kernel.ts'
import type { SimProcess } from '../kernel/kernel-process.ts'

/** Rates are probabilities per call, or per hint and watcher. */
export interface LeaseFaults {
  readonly latencyMs: { readonly min: number; readonly max: number }
  /** The call fails without effect. */
  readonly unavailable: number
  /** The write takes effect, and its answer is lost. */
  readonly ackLost: number
  /** `list` shows the store as it was up to `staleMs` ago. */
  readonly stale: number
  readonly staleMs: number
  /** A hint does not reach a watcher. */
  readonly hintLost: number
  /** A hint arrives up to `hintLateMs` late, perhaps after later hints. */
  readonly hintLate: number
  readonly hintLateMs: number
}

export const CALM_LEASES: LeaseFaults = {
  latencyMs: { min: 0.2, max: 2 },
  unavailable: 0,
  ackLost: 0,
  stale: 0,
  staleMs: 0,
  hintLost: 0,
  hintLate: 0,
  hintLateMs: 0,
}

/** The reads of a server without a majority: none, or stale data. It never writes. */
export type MinorityReads = 'fail' | 'stale'

export interface SimLeaseServer {
  readonly setFaults: (faults: LeaseFaults) => void
  /** No leader: every call times out until `heal`, or for the duration. */
  readonly stopFor: (durationMs: number) => void
  /**
   * For the named processes, or for all: their server has no majority. It cannot write; it reads its state as of this
   * moment, or not at all.
   */
  readonly loseQuorumFor: (durationMs: number, reads: MinorityReads, names?: ReadonlySet<string>) => void
  /** Removes all keys; revisions start over. */
  readonly empty: () => void
  /** Restores the earlier state, including revisions. */
  readonly rewind: (durationMs: number) => void
  /** Stops all faults. Lost data stays lost. */
  readonly heal: () => void
  /** The server's side of `createSimLeaseStore`: the effects of its calls. */
  readonly calls: LeaseCalls
}

interface LeaseCalls {
  readonly run: <T>(process: SimProcess, label: string, writes: boolean, effect: () => T) => Promise<T>
  readonly read: (nodeId: string) => ListedSession | undefined
  readonly write: (session: SessionRecord, seen: Revision) => Revision | 'conflict'
  readonly remove: (nodeId: string) => void
  readonly snapshot: (process: SimProcess) => readonly ListedSession[]
  readonly hint: (hint: ShardHint) => void
  readonly watch: (process: SimProcess, onHint: (hint: ShardHint) => void) => Watch
}

interface Minority {
  readonly sinceMs: number
  readonly untilMs: number
  readonly reads: MinorityReads
  readonly has: (name: string) => boolean
}

interface State {
  readonly atMs: number
  readonly revision: Revision
  readonly sessions: ReadonlyMap<string, ListedSession>
  readonly hints: ReadonlyMap<number, ShardHint>
}

const CALL_TIMEOUT_MS = 1000
/** How far back `rewind` and stale answers can reach. */
const HISTORY_MS = 120_000
const NOTHING: State = { atMs: 0, revision: 0, sessions: new Map(), hints: new Map() }

/** `reachable`: whether a process, by name, can reach the server now. */
export function createSimLeaseServer(
  kernel: Kernel,
  initialFaults: LeaseFaults = CALM_LEASES,
  reachable: (name: string) => boolean = () => true,
): SimLeaseServer {
  const random = kernel.random.fork('leases')
  const watchers = new Set<(hint: ShardHint) => void>()
  let faults = initialFaults
  let stoppedUntilMs = 0
  let minorities: Minority[] = []
  let history: State[] = [NOTHING]

  const latency = (): number => random.between(faults.latencyMs.min, faults.latencyMs.max)
  const now = (): State => history.at(-1) ?? NOTHING
  const asOf = (atMs: number): State => history.findLast((state) => state.atMs <= atMs) ?? history[0] ?? NOTHING
  const change = (next: Omit<State, 'atMs'>): void => {
    const oldestMs = kernel.now() - HISTORY_MS
    if ((history[1]?.atMs ?? Infinity) < oldestMs) history = history.filter((state) => state.atMs >= oldestMs)
    history.push({ ...next, atMs: kernel.now() })
  }
  const stopped = (process: SimProcess): boolean => kernel.now() < stoppedUntilMs || !reachable(process.name)
  const minorityOf = ({ name }: SimProcess): Minority | undefined =>
    minorities.find((minority) => kernel.now() < minority.untilMs && minority.has(name))
  /** Whether the process's server lacks a majority for this call. */
  const withoutQuorum = (process: SimProcess, writes: boolean): boolean => {
    const minority = minorityOf(process)
    if (minority === undefined || (!writes && minority.reads === 'stale')) return false
    kernel.count(writes ? 'fault:lease_write_without_quorum' : 'fault:lease_read_without_quorum')
    return true
  }

  const run = <T>(process: SimProcess, label: string, writes: boolean, effect: () => T): Promise<T> =>
    process.promise<T>((resolve, reject) => {
      const fail = (): void => reject(new LeaseStoreUnavailable(`${label}: no answer`))
      const timeoutMs = process.untilMonotonic(process.monotonicMs() + CALL_TIMEOUT_MS)
      const timer = process.later(timeoutMs, `${label} times out`, fail, 'timer')
      kernel.schedule(latency(), `${process.id} ${label} takes effect`, () => {
        if (stopped(process) || random.chance(faults.unavailable)) {
          kernel.count('fault:lease_unavailable')
          return
        }
        if (withoutQuorum(process, writes)) return
        const outcome = effect()
        if (writes && random.chance(faults.ackLost)) {
          kernel.count('fault:lease_ack_lost')
          return
        }
        process.later(latency(), `${label} is answered`, () => {
          timer.cancel()
          resolve(outcome)
        })
      })
    })
  const write = (session: SessionRecord, seen: Revision): Revision | 'conflict' => {
    const { revision, sessions, hints } = now()
    if ((sessions.get(session.nodeId)?.revision ?? 0) !== seen) return 'conflict'
    const next = revision + 1
    change({ revision: next, hints, sessions: new Map(sessions).set(session.nodeId, { ...session, revision: next }) })
    return next
  }
  const snapshot = (process: SimProcess): readonly ListedSession[] => {
    const minority = minorityOf(process)
    if (minority !== undefined) {
      kernel.count('fault:lease_stale_without_quorum')
      return [...asOf(minority.sinceMs).sessions.values()]
    }
    if (!random.chance(faults.stale)) return [...now().sessions.values()]
    kernel.count('fault:lease_stale')
    return [...asOf(kernel.now() - random.between(0, faults.staleMs)).sessions.values()]
  }
  const remove = (nodeId: string): void => {
    const { revision, sessions, hints } = now()
    const rest = new Map(sessions)
    rest.delete(nodeId)
    change({ revision: revision + 1, sessions: rest, hints })
  }
  const hint = (sent: ShardHint): void => {
    const { revision, sessions, hints } = now()
    change({ revision: revision + 1, sessions, hints: new Map(hints).set(sent.shardId, sent) })
    for (const watcher of watchers) watcher(sent)
  }
  const watch = (process: SimProcess, onHint: (sent: ShardHint) => void): Watch => {
    let stopped = false
    const deliver = (sent: ShardHint): void => {
      if (!reachable(process.name) || random.chance(faults.hintLost)) return kernel.count('fault:hint_lost')
      if (minorityOf(process) !== undefined) return kernel.count('fault:hint_without_quorum')
      const late = random.chance(faults.hintLate)
      if (late) kernel.count('fault:hint_late')
      const lateMs = late ? random.between(0, faults.hintLateMs) : 0
      process.later(latency() + lateMs, `receives a hint about shard ${sent.shardId}`, () => {
        if (!stopped) onHint(sent)
      })
    }
    const stop = (): void => {
      stopped = true
      watchers.delete(deliver)
    }
    if (!process.alive()) return { stop }
    process.onEnd(stop)
    watchers.add(deliver)
    for (const sent of now().hints.values()) deliver(sent)
    return { stop }
  }
  return {
    setFaults: (next) => {
      faults = next
    },
    stopFor: (durationMs) => {
      kernel.count('fault:lease_stopped')
      stoppedUntilMs = Math.max(stoppedUntilMs, kernel.now() + durationMs)
    },
    loseQuorumFor: (durationMs, reads, names) => {
      const sinceMs = kernel.now()
      kernel.record(
        `${sinceMs} the lease store has no quorum for ${names === undefined ? 'all' : [...names].join(', ')}`,
      )
      minorities = minorities.filter(({ untilMs }) => untilMs > sinceMs)
      minorities.push({
        sinceMs,
        untilMs: sinceMs + durationMs,
        reads,
        has: (name) => names === undefined || names.has(name),
      })
    },
    empty: () => {
      kernel.count('fault:lease_emptied')
      change(NOTHING)
    },
    rewind: (durationMs) => {
      kernel.count('fault:lease_rewound')
      change(asOf(kernel.now() - durationMs))
    },
    heal: () => {
      faults = CALM_LEASES
      stoppedUntilMs = 0
      minorities = []
    },
    calls: { run, read: (nodeId) => now().sessions.get(nodeId), write, remove, snapshot, hint, watch },
  }
}

/** The LeaseStore of one incarnation. */
export function createSimLeaseStore(server: SimLeaseServer, process: SimProcess): LeaseStore {
  const { run, read, write, remove, snapshot, hint, watch } = server.calls
  /** Writes without an answer, by node: only such a write counts as our own when its revision is found. */
  const inDoubt = new Map<string, string>()
  const lastWritten = new Map<string, Revision>()
  return {
    renew: async (session, seen) => {
      const { nodeId } = session
      const doubted = inDoubt.get(nodeId) === session.session
      inDoubt.set(nodeId, session.session)
      const outcome = await run(process, `renews ${nodeId}`, true, () => {
        const first = write(session, seen)
        const there = read(nodeId)
        if (first !== 'conflict' || !doubted || there?.session !== session.session) return first
        return write(session, there.revision)
      })
      inDoubt.delete(nodeId)
      if (outcome !== 'conflict') lastWritten.set(nodeId, outcome)
      return outcome
    },
    list: () => run(process, 'lists', false, () => snapshot(process)),
    end: (nodeId) =>
      run(process, `ends ${nodeId}`, true, () => {
        if (read(nodeId)?.revision === lastWritten.get(nodeId)) remove(nodeId)
      }),
    hint: (sent) => run(process, `hints at shard ${sent.shardId}`, true, () => hint(sent)),
    watchHints: (onHint) => watch(process, onHint),
  }
}
