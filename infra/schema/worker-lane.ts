/**
 * A queue of questions for one worker process. The first question starts the process, and so does the first one after the
 * process has ended.
 *   L1. The worker gets one question at a time, so that a question that ends the process affects no other.
 *   L2. The queue is bounded in number, bytes and waiting time.
 */
import type { Question } from './question.ts'
import type { ValidatorWorker, WorkerOutcome } from './validator-worker.ts'

export interface LaneOptions {
  readonly start: () => ValidatorWorker
  /** Whether each question gets a new process. */
  readonly fresh: boolean
  readonly maxWaiting: number
  readonly maxWaitingBytes: number
  readonly maxWaitMs: number
  /** Called when a process failed to start or was lost. */
  readonly onLost: (outcome: 'not_started' | 'over' | 'late') => void
}

export interface WorkerLane {
  /** `late`: the queue was full, or the process was lost for a reason other than the question. */
  readonly ask: (question: Question) => Promise<WorkerOutcome>
  readonly waiting: () => number
  readonly close: () => Promise<void>
}

interface Waiting {
  readonly question: Question
  readonly settle: (outcome: WorkerOutcome) => void
  readonly timer: NodeJS.Timeout
}

const LATE: WorkerOutcome = { kind: 'late' }

export function createWorkerLane(options: LaneOptions): WorkerLane {
  const waiting: Waiting[] = []
  let waitingBytes = 0
  let busy = false
  let closed = false
  let worker: ValidatorWorker | undefined

  function leave(one: Waiting): void {
    clearTimeout(one.timer)
    waitingBytes -= sizeOf(one.question)
  }

  async function answer(question: Question): Promise<WorkerOutcome> {
    if (worker?.alive() !== true) worker = options.start()
    const current = worker
    if (!(await current.ready)) {
      options.onLost('not_started')
      return LATE
    }
    const outcome = await current.ask(question)
    if (outcome.kind !== 'answered' && !closed) options.onLost(outcome.kind)
    if (options.fresh) await current.end()
    return outcome
  }

  async function run(): Promise<void> {
    busy = true
    for (let one = waiting.shift(); one !== undefined; one = waiting.shift()) {
      leave(one)
      one.settle(closed ? LATE : await answer(one.question))
    }
    busy = false
  }

  return {
    waiting: () => waiting.length + (busy ? 1 : 0),
    ask: (question) =>
      new Promise((resolve) => {
        const bytes = sizeOf(question)
        if (closed || waiting.length >= options.maxWaiting || waitingBytes + bytes > options.maxWaitingBytes) {
          resolve(LATE)
          return
        }
        const timer = setTimeout(() => {
          waiting.splice(waiting.indexOf(one), 1)
          leave(one)
          resolve(LATE)
        }, options.maxWaitMs)
        const one: Waiting = { question, settle: resolve, timer }
        waiting.push(one)
        waitingBytes += bytes
        if (!busy) void run()
      }),
    close: async () => {
      closed = true
      await worker?.end()
    },
  }
}

/** In bytes: a code unit takes at most two. */
function sizeOf(question: Question): number {
  return 2 * (question.schema.length + (question.kind === 'validate' ? question.value.length : 0))
}
