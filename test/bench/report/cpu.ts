/** CPU time by part of the ledger and of the whole machine, as Linux counts it (proc(5)). */
import { readFileSync } from 'node:fs'
import type { Cluster } from '../../support/processes/cluster-process.ts'
import { cpuUsOf, PROCESS_KINDS, type ProcessKind } from '../../support/processes/cluster-process-table.ts'

export type Part = ProcessKind | 'load generator'
export type CpuByPart = Readonly<Record<Part, number>>

export const PARTS: readonly Part[] = [...PROCESS_KINDS, 'load generator']
/**
 * The parts that work for a transaction: without the supervisor, which only watches, and the client's load generator.
 */
export const LEDGER_PARTS: readonly Part[] = ['edge', 'node', 'nats-server', 'postgresql']

/** Microseconds since each process began, by kind, children included. */
export function readCpu(cluster: Cluster, loadPid: number): CpuByPart {
  const processes = cluster.processes()
  return byPart((part) => {
    if (part === 'load generator') return cpuUsOf(loadPid)
    return processes.filter(({ kind }) => kind === part).reduce((sum, { cpuUs }) => sum + cpuUs, 0)
  })
}

export function cpuUsed(before: CpuByPart, after: CpuByPart): CpuByPart {
  return byPart((part) => after[part] - before[part])
}

/** The cost of one of `count` transactions. */
export function cpuShared(used: CpuByPart, count: number): CpuByPart {
  return byPart((part) => used[part] / Math.max(1, count))
}

function byPart(of: (part: Part) => number): CpuByPart {
  return Object.fromEntries(PARTS.map((part) => [part, of(part)])) as CpuByPart
}

/** USER_HZ, which Linux has fixed at 100 for every architecture that Node.js runs on. */
const TICK_US = 10_000
const IDLE_FIELDS = [3, 4]
/** user, nice, system, idle, iowait, irq, softirq, steal; guests' time is included in user and nice. */
const FIELDS = 8

/**
 * Microseconds since boot, of all processors together. Time that the hypervisor reserved for other guests counts as
 * busy.
 */
export function readMachineCpu(): { readonly busyUs: number; readonly allUs: number } {
  const [line = ''] = readFileSync('/proc/stat', 'utf8').split('\n')
  const ticks = line
    .split(/\s+/)
    .slice(1, 1 + FIELDS)
    .map(Number)
  const all = ticks.reduce((sum, value) => sum + value, 0)
  const idle = IDLE_FIELDS.reduce((sum, field) => sum + (ticks[field] ?? 0), 0)
  return { busyUs: (all - idle) * TICK_US, allUs: all * TICK_US }
}

export type ThreadedPart = 'edge' | 'node' | 'load generator'

/**
 * Microseconds of main threads, by process: an exhausted main thread bounds its process, however many processors are
 * idle.
 */
type MainThreads = Readonly<Record<ThreadedPart, ReadonlyMap<number, number>>>

export function readMainThreads(cluster: Cluster, loadPid: number): MainThreads {
  const of = (pids: readonly number[]): ReadonlyMap<number, number> => new Map(pids.map((pid) => [pid, mainUsOf(pid)]))
  const heads = (kind: 'edge' | 'node'): readonly number[] => cluster.heads(kind).map(({ pid }) => pid)
  return { edge: of(heads('edge')), node: of(heads('node')), 'load generator': of([loadPid]) }
}

/** The busiest process of each part, as a share of `elapsedMs`. */
export function busiestThreads(
  before: MainThreads,
  after: MainThreads,
  elapsedMs: number,
): Readonly<Record<ThreadedPart, number>> {
  const busiest = (part: ThreadedPart): number =>
    Math.max(
      0,
      ...[...after[part]].map(([pid, us]) => (us - (before[part].get(pid) ?? us)) / Math.max(1, elapsedMs * 1000)),
    )
  return { edge: busiest('edge'), node: busiest('node'), 'load generator': busiest('load generator') }
}

function mainUsOf(pid: number): number {
  try {
    const stat = readFileSync(`/proc/${pid}/task/${pid}/stat`, 'utf8')
    // Behind the name, which may hold spaces and brackets (proc(5)): state, parent, ..., utime, stime.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return (Number(fields[11]) + Number(fields[12])) * TICK_US
  } catch {
    return 0
  }
}
