/**
 * A process of the simulated cluster, one incarnation of it: what a crash ends and a pause holds. It runs only what is
 * given to it here, so every simulated port is made for one incarnation and calls back through it.
 *   P1. Nothing runs in a crashed incarnation any more: its callbacks are dropped and its promises never settle.
 *   P2. What comes for a paused one waits, and runs when it wakes, before anything that came later.
 *   P3. Each callback is an event of its own: microtasks drain in between.
 */
import type { SeededRandom } from './sim-random.ts'

/** `timer` and `input` differ only in the order that a waking process may take them in, as an event loop would. */
export type DeliveryKind = 'timer' | 'input'

export interface Scheduled {
  readonly cancel: () => void
}

export interface SimProcess {
  /** The host: faults and partitions name it, and it survives restarts. */
  readonly name: string
  /** `name#1`, `name#2`, …: this incarnation. */
  readonly id: string
  readonly alive: () => boolean
  readonly paused: () => boolean
  /** SIGKILL: at once, in the middle of anything. */
  readonly crash: () => void
  /** An end in good order; for the world the same as a crash, but not counted as a fault. */
  readonly exit: () => void
  /** SIGSTOP for that long, unless `resume` comes first. */
  readonly pause: (durationMs: number) => void
  readonly resume: () => void
  /** Rate 1 is true time; 0.8 to 1.2 are ±20 %. The monotonic clock bends and never goes back; the offset is the wall clock's. */
  readonly setClock: (clock: { readonly rate?: number; readonly offsetMs?: number }) => void
  /** Milliseconds since 1970 as this process believes, whole. */
  readonly wallMs: () => number
  readonly monotonicMs: () => number
  /** Virtual milliseconds until this process's monotonic clock, at its present rate, shows `deadlineMs`. */
  readonly untilMonotonic: (deadlineMs: number) => number
  /** Runs `run` in this process: at once when it runs, on waking when it is paused, never when it is gone. Call it from an event. */
  readonly deliver: (run: () => void, kind?: DeliveryKind) => void
  /** An event after `delayMs` of virtual time that is delivered to this process. */
  readonly later: (delayMs: number, label: string, run: () => void, kind?: DeliveryKind) => Scheduled
  /** A promise that never settles when the process is gone; `start` is then not even called. */
  readonly promise: <T>(start: (resolve: (value: T) => void, reject: (error: Error) => void) => void) => Promise<T>
  /** Calls back once when the process crashes or exits, for the world outside: sockets that close, locks that go. */
  readonly onEnd: (run: () => void) => void
}

/** What a process needs of the kernel. */
export interface ProcessWorld {
  readonly now: () => number
  readonly schedule: (delayMs: number, label: string, run: () => void) => Scheduled
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
  /** Not empty only while paused or while what was held is being worked off. */
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
  return {
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
    later: (delayMs, label, run, kind = 'input') => {
      if (!alive) return { cancel: () => undefined }
      let cancelled = false
      const event = world.schedule(delayMs, `${id} ${label}`, () => {
        // A cancel must also reach what is already held.
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
    },
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
}

/** An event loop that wakes may find its expired timers first, or its input; both keep their own order. */
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
