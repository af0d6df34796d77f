/** Tasks on worker threads, one thread each, so that neither their work nor their failure stops the caller. */
import { extname } from 'node:path'
import { parentPort, type ResourceLimits, type TransferListItem, Worker, workerData } from 'node:worker_threads'
import { threadStepsBack } from './step-back.ts'

/** The thread ended without a result. `code`: `deadline`, `thread_ended`, or the name of an error. */
export class ThreadFailed extends Error {
  override readonly name = 'ThreadFailed'
  readonly code: string

  constructor(code: string, options?: ErrorOptions) {
    super(`a thread failed: ${code}`, options)
    this.code = code
  }
}

export interface ThreadProgram {
  /** A program that calls `runTask`. */
  readonly url: URL
  readonly deadlineMs: number
  /** Of the JavaScript heap. Large buffers are outside it. */
  readonly limits: ResourceLimits
}

export interface RunningThread<Result> {
  /** Rejects with ThreadFailed. */
  readonly result: Promise<Result>
  readonly end: () => Promise<unknown>
}

/** The program of this name in the directory of a module, compiled or not. `moduleUrl`: its `import.meta.url`. */
export function programBeside(moduleUrl: string, name: string): URL {
  return new URL(`./${name}${extname(moduleUrl)}`, moduleUrl)
}

/** The thread ends with its result, at its deadline, and with the thread that started it. Throws if it cannot be started. */
export function startThread<Task, Result>(
  { url, deadlineMs, limits }: ThreadProgram,
  task: Task,
): RunningThread<Result> {
  const worker = new Worker(url, { workerData: task, resourceLimits: limits })
  const result = new Promise<Result>((resolve, reject) => {
    const fail = (code: string, cause?: unknown): void => reject(new ThreadFailed(code, { cause }))
    const late = setTimeout(() => fail('deadline'), deadlineMs)
    worker.once('message', resolve)
    worker.once('error', (error) => fail(error instanceof Error ? error.name : 'unknown', error))
    worker.once('exit', () => {
      clearTimeout(late)
      fail('thread_ended')
    })
  })
  const end = (): Promise<unknown> => worker.terminate()
  const untilEnded = async (): Promise<Result> => {
    try {
      return await result
    } finally {
      await end()
    }
  }
  return { result: untilEnded(), end }
}

export interface Threads<Task, Result> {
  /** Rejects with ThreadFailed, or the error of a thread that cannot be started. */
  readonly run: (task: Task) => Promise<Result>
  /** Ends all threads. */
  readonly close: () => Promise<void>
}

export function createThreads<Task, Result>(program: ThreadProgram): Threads<Task, Result> {
  const running = new Set<RunningThread<Result>>()
  return {
    run: async (task) => {
      const thread = startThread<Task, Result>(program, task)
      running.add(thread)
      return thread.result.finally(() => running.delete(thread))
    },
    close: async () => {
      await Promise.all([...running].map(({ end }) => end()))
    },
  }
}

/** In a worker thread: performs its task and sends the result. `memoryOf`: buffers to transfer instead of copying them. */
export async function runTask<Task, Result>(
  work: (task: Task) => Promise<Result>,
  memoryOf: (result: Result) => TransferListItem[] = () => [],
): Promise<void> {
  threadStepsBack()
  const result = await work(workerData as Task)
  parentPort?.postMessage(result, memoryOf(result))
}
