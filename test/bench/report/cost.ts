/** The cost of a measured run by process, and the resource that bounded it. */
import { availableParallelism } from 'node:os'
import type { Cluster } from '../../support/processes/cluster-process.ts'
import { walPosition } from '../load/committed.ts'
import {
  busiestThreads,
  type CpuByPart,
  cpuShared,
  cpuUsed,
  LEDGER_PARTS,
  PARTS,
  readCpu,
  readMachineCpu,
  readMainThreads,
  type ThreadedPart,
} from './cpu.ts'
import { type Floor, meanFloor, measureFloor } from './floor.ts'

export interface Cost {
  /** Microseconds for each transaction. */
  readonly cpuUs: CpuByPart
  /** Of the ledger's working processes: without load generator, auditor and observers. */
  readonly ledgerCpuUs: number
  /** The share of all processors that everything together used. */
  readonly cpuShare: number
  /** The share that other programs used or that a hypervisor reserved for other guests. */
  readonly othersShare: number
  /** PostgreSQL's WAL bytes for each transaction. */
  readonly walBytes: number
  /** Share of one processor: the busiest main thread of each part. */
  readonly mainThreads: Readonly<Record<ThreadedPart, number>>
  /** Average before and after. */
  readonly floor: Floor
  /** The resource that bounds the rate. */
  readonly boundBy: string
  /** CPU of the ledger divided by the unavoidable cost of its cryptography. */
  readonly floorRatio: number
}

export interface Spent {
  readonly cpuUs: CpuByPart
  readonly elapsedMs: number
  readonly cpuShare: number
  readonly othersShare: number
  readonly walBytes: number
  readonly mainThreads: Readonly<Record<ThreadedPart, number>>
  readonly floor: Floor
}

/** Starts a measurement, and returns the function that ends it. */
export async function startMeter(cluster: Cluster, loadPid: number): Promise<() => Promise<Spent>> {
  const floorBefore = measureFloor()
  const walBefore = await walPosition(cluster.databaseUrl())
  const before = snapshot(cluster, loadPid)
  return async () => {
    const after = snapshot(cluster, loadPid)
    const walAfter = await walPosition(cluster.databaseUrl())
    const elapsedMs = after.atMs - before.atMs
    const cpuUs = cpuUsed(before.cpu, after.cpu)
    const usedUs = PARTS.reduce((sum, part) => sum + cpuUs[part], 0)
    const machineUs = after.machine.allUs - before.machine.allUs
    const busyUs = after.machine.busyUs - before.machine.busyUs
    return {
      cpuUs,
      elapsedMs,
      cpuShare: usedUs / (elapsedMs * 1000 * availableParallelism()),
      othersShare: Math.max(0, busyUs - usedUs - (after.ownUs - before.ownUs)) / Math.max(1, machineUs),
      walBytes: walAfter - walBefore,
      mainThreads: busiestThreads(before.threads, after.threads, elapsedMs),
      floor: meanFloor([floorBefore, measureFloor()]),
    }
  }
}

/** `count`: transactions. `signatures`: made by the ledger for each transaction; it verifies one. */
export function costOf(spent: Spent, count: number, signatures = 1): Cost {
  const { cpuShare, othersShare, mainThreads, floor } = spent
  const cpuUs = cpuShared(spent.cpuUs, count)
  const ledgerCpuUs = LEDGER_PARTS.reduce((sum, part) => sum + cpuUs[part], 0)
  const floorRatio = ledgerCpuUs / (floor.verifyUs + signatures * floor.signUs)
  const walBytes = spent.walBytes / Math.max(1, count)
  return {
    cpuUs,
    ledgerCpuUs,
    cpuShare,
    othersShare,
    walBytes,
    mainThreads,
    floor,
    floorRatio,
    boundBy: boundOf(spent),
  }
}

/** Above this share a thread, or all processors, are exhausted. */
const EXHAUSTED = 0.9

/** Above this share other programs disturb the run. */
const CROWDED = 0.15

function boundOf({ cpuShare, othersShare, mainThreads }: Spent): string {
  if (mainThreads['load generator'] >= EXHAUSTED) return 'the load generator'
  if (cpuShare + othersShare >= EXHAUSTED) {
    return othersShare >= CROWDED ? 'what others leave it' : 'the processors'
  }
  if (mainThreads.node >= EXHAUSTED) return 'main thread of a node'
  if (mainThreads.edge >= EXHAUSTED) return 'main thread of an edge'
  return 'waiting: disk or clients'
}

function snapshot(cluster: Cluster, loadPid: number) {
  const { user, system } = process.cpuUsage()
  return {
    atMs: performance.now(),
    cpu: readCpu(cluster, loadPid),
    threads: readMainThreads(cluster, loadPid),
    machine: readMachineCpu(),
    ownUs: user + system,
  }
}
