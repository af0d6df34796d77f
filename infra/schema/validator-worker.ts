/**
 * A process that answers questions about schemas, seen from the one that asks. It is a process and no thread: where a heap
 * grows in one large step, V8 ends the process that it is in, whatever limit the thread has (a Map that doubles, an array
 * that is filled).
 *   W1. What is asked ends: in an answer, or with the process. Then nothing of it goes on.
 *   W2. Time is what the process has used of a processor, so that a busy machine makes no schema hostile.
 */
import { type ChildProcess, fork } from 'node:child_process'
import { type Answered, type Asked, isAnswered, type Question, READY } from './question.ts'
import { mainThreadCpuMs } from './thread-cpu.ts'

export interface WorkerLimits {
  /** Of a processor, for one question. A question that the counts let through takes a third of it at most. */
  readonly cpuMs: number
  /** By the clock, for one question. */
  readonly elapsedMs: number
  readonly startMs: number
  readonly heapMb: number
}

export const WORKER_LIMITS: WorkerLimits = { cpuMs: 2_000, elapsedMs: 8_000, startMs: 20_000, heapMb: 128 }

export type WorkerOutcome =
  | { readonly kind: 'answered'; readonly verdict: unknown }
  /** Out of time or memory, or broken by the question: the process has ended. */
  | { readonly kind: 'over' }
  /** The clock ran out while the process was not let run, or it was ended from outside: says nothing about the question. */
  | { readonly kind: 'late' }

export interface ValidatorWorker {
  /** Once it can be asked; false when it could not be started. */
  readonly ready: Promise<boolean>
  /** One at a time. */
  readonly ask: (question: Question) => Promise<WorkerOutcome>
  /** Whether it can be asked again. */
  readonly alive: () => boolean
  /** Ends it, whatever it does; resolves when it has ended. */
  readonly end: () => Promise<void>
  readonly pid: number | undefined
}

/** The next look at a process that has not used up its time. */
const LEAST_LOOK_MS = 20

export function startWorker(program: string, limits: WorkerLimits = WORKER_LIMITS): ValidatorWorker {
  const child = fork(program, [], {
    execArgv: [`--max-old-space-size=${limits.heapMb}`, '--max-semi-space-size=8'],
    env: {},
    // V8 writes down what it ran out of memory with.
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  })
  const state = { alive: true, ended: false }
  const ended = new Promise<void>((resolve) => {
    const end = (): void => {
      state.alive = false
      resolve()
    }
    child.once('exit', end)
    // Of a start, a signal or a message that failed; it may come more than once.
    child.on('error', () => {
      child.kill('SIGKILL')
      end()
    })
  })
  const end = (): Promise<void> => {
    state.ended = true
    state.alive = false
    child.kill('SIGKILL')
    return ended
  }
  let lastId = 0
  return {
    ready: becomesReady(child, ended, limits.startMs, end),
    alive: () => state.alive,
    end,
    pid: child.pid,
    ask: (question) => {
      lastId += 1
      return asked({ child, limits, ended, end, isEnded: () => state.ended }, { id: lastId, question })
    },
  }
}

async function becomesReady(
  child: ChildProcess,
  ended: Promise<void>,
  startMs: number,
  end: () => Promise<void>,
): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined
  const ready = await Promise.race([
    new Promise<boolean>((resolve) => {
      child.once('message', (message) => resolve(message === READY))
      timer = setTimeout(() => resolve(false), startMs)
    }),
    ended.then(() => false),
  ])
  clearTimeout(timer)
  if (!ready) await end()
  return ready
}

interface Asking {
  readonly child: ChildProcess
  readonly limits: WorkerLimits
  readonly ended: Promise<void>
  readonly end: () => Promise<void>
  readonly isEnded: () => boolean
}

async function asked({ child, limits, ended, end, isEnded }: Asking, message: Asked): Promise<WorkerOutcome> {
  const watch = watchTime(child.pid, limits)
  let onMessage: (message: unknown) => void = () => undefined
  const answered = new Promise<Answered>((resolve) => {
    onMessage = (answer) => {
      if (isAnswered(answer) && answer.id === message.id) resolve(answer)
    }
    child.on('message', onMessage)
  })
  // What cannot be sent is not answered: its process has ended, or is about to.
  child.send(message, () => undefined)
  const outcome = await Promise.race([
    answered.then(({ verdict }): WorkerOutcome =>
      verdict === null ? { kind: 'over' } : { kind: 'answered', verdict },
    ),
    // It ended by itself, which is the question's doing, or it was told to.
    ended.then((): WorkerOutcome => ({ kind: isEnded() ? 'late' : 'over' })),
    watch.over,
  ])
  watch.stop()
  child.off('message', onMessage)
  if (outcome.kind !== 'answered') await end()
  return outcome
}

interface Watch {
  readonly over: Promise<WorkerOutcome>
  readonly stop: () => void
}

function watchTime(pid: number | undefined, { cpuMs, elapsedMs }: WorkerLimits): Watch {
  const startedMs = performance.now()
  // Where Linux does not tell, all the time that passes counts.
  const used = (): number => (pid === undefined ? undefined : mainThreadCpuMs(pid)) ?? performance.now()
  const usedBefore = used()
  let timer: NodeJS.Timeout | undefined
  const over = new Promise<WorkerOutcome>((resolve) => {
    const look = (): void => {
      const leftMs = cpuMs - (used() - usedBefore)
      const leftOnClockMs = elapsedMs - (performance.now() - startedMs)
      if (leftMs <= 0) resolve({ kind: 'over' })
      else if (leftOnClockMs <= 0) resolve({ kind: 'late' })
      else timer = setTimeout(look, Math.min(Math.max(leftMs, LEAST_LOOK_MS), leftOnClockMs))
    }
    timer = setTimeout(look, Math.min(cpuMs, elapsedMs))
  })
  return { over, stop: () => clearTimeout(timer) }
}
