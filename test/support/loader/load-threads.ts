/** Makers of accounts: threads where there is a build to run them from, else this one. */
import { availableParallelism } from 'node:os'
import { Worker } from 'node:worker_threads'
import type { AccountSource } from './account-source.ts'
import type { LoadChunk } from './load-chunk.ts'
import type { ThreadOrder, ThreadReply, ThreadSetup } from './load-thread.ts'

export interface AccountMaker {
  readonly accounts: AccountSource['accounts']
  readonly close: () => Promise<void>
}

/** Most of what a batch makes dies with it: room for all of it, so that little of it is moved first. */
const YOUNG_MB = 96

/** As many as the machine has processors, in a build; none otherwise. */
export function defaultThreads(): number {
  return import.meta.url.endsWith('.js') ? availableParallelism() : 0
}

export function inPlace(source: AccountSource): AccountMaker {
  return { accounts: source.accounts, close: () => Promise.resolve() }
}

export function startThread(setup: ThreadSetup): AccountMaker {
  const worker = new Worker(new URL('load-thread.js', import.meta.url), {
    workerData: setup,
    resourceLimits: { maxYoungGenerationSizeMb: YOUNG_MB },
  })
  const waiting = new Map<number, { resolve: (chunk: LoadChunk) => void; reject: (error: Error) => void }>()
  const exited = new Promise<void>((resolve) => {
    worker.once('exit', () => resolve())
  })
  const fail = (error: Error): void => {
    for (const { reject } of waiting.values()) reject(error)
    waiting.clear()
  }
  worker.on('error', fail)
  void exited.then(() => fail(new Error('a thread that makes accounts has ended')))
  worker.on('message', (reply: ThreadReply) => {
    const asked = waiting.get(reply.number)
    waiting.delete(reply.number)
    if (reply.kind === 'made') asked?.resolve(reply.chunk)
    else asked?.reject(new Error(reply.message))
  })
  const send = (order: ThreadOrder): void => worker.postMessage(order, [])
  let orders = 0
  return {
    accounts: (from, to) =>
      new Promise((resolve, reject) => {
        orders += 1
        waiting.set(orders, { resolve, reject })
        send({ kind: 'make', number: orders, from, to })
      }),
    close: async () => {
      // What is under way has nobody left who waits for it.
      if (waiting.size > 0) await worker.terminate()
      else send({ kind: 'close' })
      await exited
    },
  }
}
