/** Resources that a ledger uses without any request: heartbeats, timers, the auditor. */
import { setTimeout as delay } from 'node:timers/promises'
import { say } from '../context.ts'
import { startMeter } from '../report/cost.ts'
import { type CpuByPart, cpuShared } from '../report/cpu.ts'
import type { LedgerBench } from '../ledger-bench.ts'

export interface IdleMeasured {
  /** Microseconds in a second. */
  readonly cpuUs: CpuByPart
  /** Share of all processors. */
  readonly cpuShare: number
  readonly othersShare: number
  /** In a second. */
  readonly walBytes: number
}

/** Lets earlier work end first. */
const REST_MS = 3_000

export async function measureIdle({ cluster, load, options }: LedgerBench): Promise<IdleMeasured> {
  say(`idle: measuring for ${options.seconds} s ...`)
  await delay(REST_MS)
  const stopMeter = await startMeter(cluster, load.pid)
  await delay(options.seconds * 1000)
  const { cpuUs, elapsedMs, cpuShare, othersShare, walBytes } = await stopMeter()
  const elapsedS = elapsedMs / 1000
  return { cpuUs: cpuShared(cpuUs, elapsedS), cpuShare, othersShare, walBytes: walBytes / elapsedS }
}
