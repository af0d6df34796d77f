/**
 * One incarnation of a process of the simulated cluster, which a crash ends and a pause stops. It runs only callbacks
 * that are delivered here, so every simulated port belongs to one incarnation and calls back through it.
 *   P1. A crashed incarnation runs no more code: its callbacks are dropped and its promises never settle.
 *   P2. Callbacks of a paused process wait until it wakes, and run before later ones.
 *   P3. Each callback is an event of its own: microtasks drain in between.
 */
import type { SeededRandom } from './sim-random.ts'

/** `timer` and `input` differ only in the order in which a waking process handles them, as in an event loop. */
export type DeliveryKind = 'timer' | 'input'

export interface Scheduled {
  readonly cancel: () => void
}

export type Schedule = (delayMs: number, label: string, run: () => void) => Scheduled

export interface SimProcess {
  /** The host: faults and partitions name it, and it survives restarts. */
  readonly name: string
  /** `name#1`, `name#2`, …: this incarnation. */
  readonly id: string
  readonly alive: () => boolean
  readonly paused: () => boolean
  /** SIGKILL: takes effect at once, also in the middle of an operation. */
  readonly crash: () => void
  /** A regular end; the same as a crash, but not counted as a fault. */
  readonly exit: () => void
  /** SIGSTOP for that long, unless `resume` comes first. */
  readonly pause: (durationMs: number) => void
  readonly resume: () => void
  /**
   * Rate 1 is true time; 0.8 to 1.2 are ±20 %. The monotonic clock never goes back; the offset applies to the wall
   * clock.
   */
  readonly setClock: (clock: { readonly rate?: number; readonly offsetMs?: number }) => void
  /** Milliseconds since 1970 by this process's clock, whole. */
  readonly wallMs: () => number
  readonly monotonicMs: () => number
  /** Virtual milliseconds until this process's monotonic clock, at its present rate, shows `deadlineMs`. */
  readonly untilMonotonic: (deadlineMs: number) => number
  /**
   * Runs `run` in this process: at once if it runs, on waking if it is paused, never if it has ended. Call it from an
   * event.
   */
  readonly deliver: (run: () => void, kind?: DeliveryKind) => void
  /** An event after `delayMs` of virtual time that is delivered to this process. */
  readonly later: (delayMs: number, label: string, run: () => void, kind?: DeliveryKind) => Scheduled
  /** The same process with events of this schedule. */
  readonly beside: (schedule: Schedule) => SimProcess
  /** A promise that never settles once the process has ended; `start` is then not called. */
  readonly promise: <T>(start: (resolve: (value: T) => void, reject: (error: Error) => void) => void) => Promise<T>
  /** Calls back once when the process crashes or exits: sockets close, locks are released. */
  readonly onEnd: (run: () => void) => void
}

/** A process's dependencies in the kernel. */
export interface ProcessWorld {
  readonly now: () => number
  readonly schedule: Schedule
  readonly random: SeededRandom
  readonly record: (line: string) => void
  readonly count: (name: string) => void
  /** Milliseconds since 1970 at virtual time 0. */
  readonly epochMs: number
}

interface Held {
  readonly run: () => void
  readonly kind: DeliveryKind
}

export function createProcess(world: ProcessWorld, name: string, incarnation: number): SimProcess {
  const id = `${name}#${incarnation}`
  const random = world.random.fork(`wake ${id}`)
  const clock = createBentClock(world)
  const endHooks: (() => void)[] = []
  let alive = true
  let paused = false
  let waking: Scheduled | undefined
  /** Not empty only while the process is paused or works off its held callbacks. */
  let held: Held[] = []

  const workOff = (): void => {
    if (!alive || paused) return
    const next = held.shift()
    if (held.length > 0) world.schedule(0, `${id} works off`, workOff)
    next?.run()
  }
  const resume = (): void => {
    if (!alive || !paused) return
    paused = false
    waking?.cancel()
    held = orderOnWaking(held, random)
    world.record(`${world.now()} ${id} wakes with ${held.length} held`)
    if (held.length > 0) world.schedule(0, `${id} works off`, workOff)
  }
  const end = (): void => {
    if (!alive) return
    alive = false
    held = []
    waking?.cancel()
    for (const hook of endHooks) hook()
  }
  const deliver = (run: () => void, kind: DeliveryKind = 'input'): void => {
    if (!alive) return
    if (paused || held.length > 0) held.push({ run, kind })
    else run()
  }
  const laterBy =
    (schedule: Schedule): SimProcess['later'] =>
    (delayMs, label, run, kind = 'input') => {
      if (!alive) return { cancel: () => undefined }
      let cancelled = false
      const event = schedule(delayMs, `${id} ${label}`, () => {
        // A cancellation must also reach held callbacks.
        deliver(() => {
          if (!cancelled) run()
        }, kind)
      })
      return {
        cancel: () => {
          cancelled = true
          event.cancel()
        },
      }
    }
  const process: SimProcess = {
    name,
    id,
    alive: () => alive,
    paused: () => paused,
    crash: () => {
      if (!alive) return
      world.count('fault:crash')
      world.record(`${world.now()} ${id} crashes`)
      end()
    },
    exit: end,
    pause: (durationMs) => {
      if (!alive || paused) return
      paused = true
      world.count('fault:pause')
      world.record(`${world.now()} ${id} pauses for ${durationMs}`)
      waking = world.schedule(durationMs, `${id} continues`, resume)
    },
    resume,
    ...clock,
    deliver,
    later: laterBy(world.schedule),
    beside: (schedule) => ({ ...process, later: laterBy(schedule) }),
    promise: (start) =>
      new Promise((resolve, reject) => {
        if (!alive) return
        start(
          (value) => {
            if (alive) resolve(value)
          },
          (error) => {
            if (alive) reject(error)
          },
        )
      }),
    onEnd: (run) => {
      endHooks.push(run)
    },
  }
  return process
}

/** A waking event loop may handle its expired timers or its input first; each keeps its own order. */
function orderOnWaking(held: readonly Held[], random: SeededRandom): Held[] {
  const timers = held.filter(({ kind }) => kind === 'timer')
  const inputs = held.filter(({ kind }) => kind === 'input')
  return random.pick([[...held], [...timers, ...inputs], [...inputs, ...timers]])
}

function createBentClock(
  world: ProcessWorld,
): Pick<SimProcess, 'setClock' | 'wallMs' | 'monotonicMs' | 'untilMonotonic'> {
  let rate = 1
  let offsetMs = 0
  let bentAtMs = world.now()
  let shownThenMs = world.now()
  const monotonicMs = (): number => shownThenMs + (world.now() - bentAtMs) * rate
  return {
    setClock: (next) => {
      shownThenMs = monotonicMs()
      bentAtMs = world.now()
      rate = next.rate ?? rate
      offsetMs = next.offsetMs ?? offsetMs
    },
    monotonicMs,
    wallMs: () => Math.floor(world.epochMs + monotonicMs() + offsetMs),
    untilMonotonic: (deadlineMs) => Math.max(0, (deadlineMs - monotonicMs()) / rate),
  }
}
