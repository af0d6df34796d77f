/**
 * Questions in a row for one process, which is started when there is one, and again when it has ended.
 *   L1. One question is asked at a time, so that a question that ends the process takes no other with it.
 *   L2. What waits is bounded, in number, in bytes and in time.
 */
import type { Question } from './question.ts'
import type { ValidatorWorker, WorkerOutcome } from './validator-worker.ts'

export interface LaneOptions {
  readonly start: () => ValidatorWorker
  /** Whether each question has a process of its own. */
  readonly fresh: boolean
  readonly maxWaiting: number
  readonly maxWaitingBytes: number
  readonly maxWaitMs: number
  /** Told when a process has ended that did not have to. */
  readonly onLost: (outcome: 'not_started' | 'over' | 'late') => void
}

export interface WorkerLane {
  /** `late`: not asked, or not answered for reasons that are not its own. */
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

/** Of its text, in the two bytes that a code unit takes at most. */
function sizeOf(question: Question): number {
  return 2 * (question.schema.length + (question.kind === 'validate' ? question.value.length : 0))
}
