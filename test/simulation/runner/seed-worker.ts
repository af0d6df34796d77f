/** A thread that runs the seeds it receives, one after another. Messages pass between runs, never during one. */
import { parentPort, workerData } from 'node:worker_threads'
import { planOf } from '../plan.ts'
import { type Attempt, attempt } from './runner-attempt.ts'

export interface WorkerData {
  /** The name of the rule to switch off. */
  readonly broken: string | null
}

export interface SeedResult extends Attempt {
  readonly seed: number
}

const { broken } = workerData as WorkerData

parentPort?.on('message', (seed: number) => {
  void attempt(planOf(seed), broken).then((outcome) => {
    parentPort?.postMessage({ seed, ...outcome } satisfies SeedResult, [])
  })
})
