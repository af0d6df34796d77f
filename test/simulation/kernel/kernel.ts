/**
 * The kernel of the deterministic simulation: one event heap over virtual time, one seed, one trace.
 *   K1. The same seed and the same code give the same trace hash: all chance comes from the seed, simultaneous events
 *       are ordered by seeded keys, and every microtask drains before the next event.
 *   K2. All code runs in events: no real timer, thread pool or worker takes part.
 *   K3. A run is bounded in steps and in virtual time; beyond, it fails with its seed.
 */
import { createEventHeap, type SimEvent } from './kernel-heap.ts'
import { forbidRealTime } from './kernel-guard.ts'
import { createProcess, type Schedule, type SimProcess } from './kernel-process.ts'
import { createSeededRandom, type SeededRandom } from './sim-random.ts'
import { createTrace, type Trace } from './trace.ts'
import { type Violation, violationOf } from '../violations.ts'

export interface KernelOptions {
  readonly seed: number
  /** Milliseconds since 1970 at virtual time 0. */
  readonly epochMs?: number
  readonly maxSteps?: number
  /** Virtual time. */
  readonly maxTimeMs?: number
  /** Keeps every line of the trace, to replay a failing seed. */
  readonly keepTrace?: boolean
  readonly witness?: KernelWitness | undefined
}

/** Observes a run for its story. The run does not depend on it. */
export interface KernelWitness {
  readonly stepped: (nowMs: number, label: string) => void
  readonly recorded: (line: string) => void
  readonly counted: (name: string) => void
}

/** The result of a run, successful or not. */
export interface RunEnd {
  readonly hash: string
  readonly steps: number
  /** Milliseconds of virtual time. */
  readonly virtualMs: number
  readonly counters: ReadonlyMap<string, number>
}

export interface Kernel {
  readonly seed: number
  /** Fork it by purpose: draws from it directly would depend on each other. */
  readonly random: SeededRandom
  readonly trace: Trace
  /** Virtual milliseconds since the start, with fractions. */
  readonly now: () => number
  /** Milliseconds since 1970 in true virtual time, whole. */
  readonly wallMs: () => number
  readonly steps: () => number
  /** An event outside every process: it runs even if all processes are dead. The label goes into the trace. */
  readonly schedule: Schedule
  /** Schedules events that do not change the order of all others. */
  readonly beside: (purpose: string) => Schedule
  /** A new incarnation of the named process. Throws while the previous one is alive. */
  readonly process: (name: string) => SimProcess
  /** Adds a line to the trace. */
  readonly record: (line: string) => void
  readonly count: (name: string, by?: number) => void
  /** 0 if it never happened. */
  readonly counted: (name: string) => number
  readonly counters: () => ReadonlyMap<string, number>
  /** The result of the run so far. */
  readonly end: () => RunEnd
  /**
   * Steps until the condition holds (true), or until the time is used up or no event is left (false). The condition is
   * checked before the first step and after each. Rejects with a `SimulationFailure`.
   */
  readonly runUntil: (condition: () => boolean, withinMs: number) => Promise<boolean>
  /** Steps until that much virtual time has passed. */
  readonly runFor: (durationMs: number) => Promise<void>
  /**
   * Steps until the promise settles, and returns its result; throws a `SimulationFailure` if it does not settle in
   * time.
   */
  readonly runToEnd: <T>(promise: Promise<T>, withinMs: number) => Promise<T>
}

/** Names the seed, and ends with the last lines of the trace. */
export class SimulationFailure extends Error {
  override readonly name = 'SimulationFailure'
  /** At least one; the first ended the run. */
  readonly violations: readonly Violation[]
  readonly end: RunEnd

  constructor(message: string, violations: readonly Violation[], end: RunEnd, options?: ErrorOptions) {
    super(message, options)
    this.violations = violations
    this.end = end
  }
}

const DEFAULT_EPOCH_MS = 1_750_000_000_000
const DEFAULT_MAX_STEPS = 5_000_000
const DEFAULT_MAX_TIME_MS = 3_600_000
const SHOWN_LINES = 40

export function createKernel(options: KernelOptions): Kernel {
  const { seed, epochMs = DEFAULT_EPOCH_MS, maxSteps = DEFAULT_MAX_STEPS, maxTimeMs = DEFAULT_MAX_TIME_MS } = options
  const { witness } = options
  const random = createSeededRandom(seed)
  const trace = createTrace(options.keepTrace ?? false)
  const heap = createEventHeap()
  const counters = new Map<string, number>()
  const incarnations = new Map<string, { readonly number: number; readonly process: SimProcess }>()
  let nowMs = 0
  let sequence = 0
  let steps = 0

  const now = (): number => nowMs
  const scheduler =
    (ties: SeededRandom): Schedule =>
    (delayMs, label, run) => {
      if (!(delayMs >= 0)) throw new Error(`delay of ${delayMs} ms for ${label}`)
      const event: SimEvent = { timeMs: nowMs + delayMs, key: ties.bits(), sequence, label, run, cancelled: false }
      sequence += 1
      heap.push(event)
      return {
        cancel: () => {
          event.cancelled = true
        },
      }
    }
  const schedule = scheduler(random.fork('ties'))
  const count = (name: string, by = 1): void => {
    counters.set(name, (counters.get(name) ?? 0) + by)
    witness?.counted(name)
  }
  const record = (line: string): void => {
    trace.record(line)
    witness?.recorded(line)
  }
  const end = (): RunEnd => ({ hash: trace.hash(), steps, virtualMs: nowMs, counters })
  const world = { now, schedule, random, record, count, epochMs }

  const step = (event: SimEvent): void => {
    nowMs = event.timeMs
    steps += 1
    trace.record(`${nowMs} ${event.label}`)
    witness?.stepped(nowMs, event.label)
    event.run()
  }
  const demandBounds = (): void => {
    if (steps > maxSteps) throw new Error(`K3: more than ${maxSteps} steps`)
    if (nowMs > maxTimeMs) throw new Error(`K3: more than ${maxTimeMs} ms of virtual time`)
  }
  const runUntil = (condition: () => boolean, withinMs: number): Promise<boolean> =>
    guarded(seed, trace, end, async (rejected) => {
      const endMs = nowMs + withinMs
      // Work started before this call may still have microtasks to run.
      await microtasksDrained()
      for (;;) {
        if (rejected.length > 0) throw rejected[0]
        if (condition()) return true
        const next = heap.peek()
        if (next === undefined || next.timeMs > endMs) {
          if (endMs !== Infinity) nowMs = endMs
          return false
        }
        heap.pop()
        step(next)
        await microtasksDrained()
        demandBounds()
      }
    })
  return {
    seed,
    random,
    trace,
    now,
    wallMs: () => Math.floor(epochMs + nowMs),
    steps: () => steps,
    schedule,
    beside: (purpose) => scheduler(random.fork(`ties of ${purpose}`)),
    process: (name) => {
      const before = incarnations.get(name)
      if (before?.process.alive() === true) throw new Error(`${before.process.id} is still alive`)
      const number = (before?.number ?? 0) + 1
      const process = createProcess(world, name, number)
      incarnations.set(name, { number, process })
      return process
    },
    record,
    count,
    end,
    counted: (name) => counters.get(name) ?? 0,
    counters: () => counters,
    runUntil,
    runFor: async (durationMs) => {
      await runUntil(() => false, durationMs)
    },
    runToEnd: async (promise, withinMs) => {
      let settled = false
      const watched = promise.finally(() => {
        settled = true
      })
      watched.catch(() => undefined)
      if (!(await runUntil(() => settled, withinMs)))
        throw failure(seed, trace, end, new Error('a promise did not settle'))
      return promise
    },
  }
}

/** Runs with real time forbidden. Every failure names the seed, unhandled rejections included. */
async function guarded<T>(
  seed: number,
  trace: Trace,
  end: () => RunEnd,
  run: (rejected: unknown[]) => Promise<T>,
): Promise<T> {
  const rejected: unknown[] = []
  const onRejection = (reason: unknown): void => {
    rejected.push(reason)
  }
  process.on('unhandledRejection', onRejection)
  const allow = forbidRealTime()
  try {
    return await run(rejected)
  } catch (error) {
    throw failure(seed, trace, end, error)
  } finally {
    allow()
    process.off('unhandledRejection', onRejection)
  }
}

function failure(seed: number, trace: Trace, end: () => RunEnd, cause: unknown): SimulationFailure {
  if (cause instanceof SimulationFailure) return cause
  const reason = cause instanceof Error ? cause.message : String(cause)
  const lines = trace.lines().slice(-SHOWN_LINES).join('\n  ')
  return new SimulationFailure(`seed ${seed}: ${reason}\n  ${lines}`, [violationOf(reason)], end(), { cause })
}

const waiting: (() => void)[] = []
let immediates = 0
/** Immediates requested together: the event loop polls for input between batches of immediates. */
const HELPING = 64

/** An immediate runs after every due microtask, including those that microtasks start. */
function microtasksDrained(): Promise<void> {
  return new Promise((resolve) => {
    waiting.push(resolve)
    if (immediates > 0) return
    immediates = HELPING
    for (let count = 0; count < HELPING; count += 1) {
      setImmediate(() => {
        immediates -= 1
        waiting.shift()?.()
      })
    }
  })
}
