/** A thread that runs seeds, one after another, as it is given them. Messages pass between runs, never during one. */
import { parentPort, workerData } from 'node:worker_threads'
import type { RunEnd } from './kernel.ts'
import { planOf } from './plan.ts'
import { attempt } from './runner-attempt.ts'
import type { Violation } from './violations.ts'

export interface WorkerData {
  /** The name of a rule that is switched off. */
  readonly broken: string | null
}

export interface SeedResult {
  readonly seed: number
  readonly end: RunEnd
  readonly violations: readonly Violation[]
}

const { broken } = workerData as WorkerData

parentPort?.on('message', (seed: number) => {
  void attempt(planOf(seed), broken).then((outcome) => {
    parentPort?.postMessage({ seed, ...outcome } satisfies SeedResult, [])
  })
})
