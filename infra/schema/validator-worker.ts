/**
 * Starts a worker process, asks it questions, and ends it. It is no thread, because V8 ends the whole process when one
 * large step exceeds the heap, such as a Map that doubles.
 *   W1. Every question ends in a reply or with the end of the process, so that no work goes on.
 *   W2. The time limit counts CPU time, so that a busy machine does not make a schema look hostile.
 */
import { type ChildProcess, fork } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { isVerdictMessage, type Question, type QuestionMessage, READY, type VerdictMessage } from './question.ts'

export interface WorkerLimits {
  /** CPU time of one question. A question within `MAX_STEPS` takes at most a third of it. */
  readonly cpuMs: number
  /** Elapsed time of one question. */
  readonly elapsedMs: number
  readonly startMs: number
  readonly heapMb: number
}

export const WORKER_LIMITS: WorkerLimits = { cpuMs: 2_000, elapsedMs: 8_000, startMs: 20_000, heapMb: 128 }

export type WorkerOutcome =
  | { readonly kind: 'answered'; readonly verdict: unknown }
  /** The question exceeded the time or memory, or broke the process. The process has ended. */
  | { readonly kind: 'over' }
  /** The process got no CPU time, or was ended from outside. Says nothing about the question. */
  | { readonly kind: 'late' }

export interface ValidatorWorker {
  /** Resolves when the process takes questions; false if it did not start. */
  readonly ready: Promise<boolean>
  /** One question at a time. */
  readonly ask: (question: Question) => Promise<WorkerOutcome>
  readonly alive: () => boolean
  /** Kills the process, and resolves when it has ended. */
  readonly end: () => Promise<void>
  readonly pid: number | undefined
}

const MIN_CHECK_INTERVAL_MS = 20

export function startWorker(program: string, limits: WorkerLimits = WORKER_LIMITS): ValidatorWorker {
  const child = fork(program, [], {
    execArgv: [`--max-old-space-size=${limits.heapMb}`, '--max-semi-space-size=8'],
    env: {},
    // V8 prints a report when it runs out of memory.
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  })
  const state = { alive: true, ended: false }
  const ended = new Promise<void>((resolve) => {
    const end = (): void => {
      state.alive = false
      resolve()
    }
    child.once('exit', end)
    // A start, signal or message failed. The event may come more than once.
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
    ready: waitUntilReady(child, ended, limits.startMs, end),
    alive: () => state.alive,
    end,
    pid: child.pid,
    ask: (question) => {
      lastId += 1
      return askChild({ child, limits, ended, end, isEnded: () => state.ended }, { id: lastId, question })
    },
  }
}

async function waitUntilReady(
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

interface RunningWorker {
  readonly child: ChildProcess
  readonly limits: WorkerLimits
  readonly ended: Promise<void>
  readonly end: () => Promise<void>
  readonly isEnded: () => boolean
}

async function askChild(
  { child, limits, ended, end, isEnded }: RunningWorker,
  message: QuestionMessage,
): Promise<WorkerOutcome> {
  const watch = watchTime(child.pid, limits)
  let onMessage: (message: unknown) => void = () => undefined
  const replied = new Promise<VerdictMessage>((resolve) => {
    onMessage = (reply) => {
      if (isVerdictMessage(reply) && reply.id === message.id) resolve(reply)
    }
    child.on('message', onMessage)
  })
  // A message that cannot be sent has a process that ends, which `ended` reports.
  child.send(message, () => undefined)
  const outcome = await Promise.race([
    replied.then(({ verdict }): WorkerOutcome => (verdict === null ? { kind: 'over' } : { kind: 'answered', verdict })),
    // A process that ended by itself was ended by the question.
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
  // Without Linux's figure, elapsed time counts.
  const used = (): number => (pid === undefined ? undefined : mainThreadCpuMs(pid)) ?? performance.now()
  const usedBefore = used()
  let timer: NodeJS.Timeout | undefined
  const over = new Promise<WorkerOutcome>((resolve) => {
    const check = (): void => {
      const leftMs = cpuMs - (used() - usedBefore)
      const leftOnClockMs = elapsedMs - (performance.now() - startedMs)
      if (leftMs <= 0) resolve({ kind: 'over' })
      else if (leftOnClockMs <= 0) resolve({ kind: 'late' })
      else timer = setTimeout(check, Math.min(Math.max(leftMs, MIN_CHECK_INTERVAL_MS), leftOnClockMs))
    }
    timer = setTimeout(check, Math.min(cpuMs, elapsedMs))
  })
  return { over, stop: () => clearTimeout(timer) }
}

/** USER_HZ, which Linux fixes at 100 on every architecture that Node.js supports. */
const TICK_MS = 10

/** CPU time of a process's main thread; undefined when the process has ended. */
function mainThreadCpuMs(pid: number): number | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/task/${pid}/stat`, 'utf8')
    // proc(5): the name is in parentheses and may hold any character; utime and stime are fields 12 and 13 after it.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return (Number(fields[11]) + Number(fields[12])) * TICK_MS
  } catch {
    return undefined
  }
}
