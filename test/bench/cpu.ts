/** CPU time that each part has used. */
import type { Cluster } from '../support/cluster-process.ts'
import { cpuUsOf, PROCESS_KINDS, type ProcessKind } from '../support/cluster-process-table.ts'

export type Part = ProcessKind | 'load generator'
export type CpuByPart = Readonly<Record<Part, number>>

export const PARTS: readonly Part[] = [...PROCESS_KINDS, 'load generator']
/** What works for a transaction; the supervisor only watches, and the load is the client's. */
export const LEDGER_PARTS: readonly Part[] = ['edge', 'node', 'nats-server', 'postgresql']

/** Microseconds since each process began; every one of a kind, children included. */
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

/** For each of so many. */
export function cpuShared(used: CpuByPart, count: number): CpuByPart {
  return byPart((part) => used[part] / Math.max(1, count))
}

function byPart(of: (part: Part) => number): CpuByPart {
  return Object.fromEntries(PARTS.map((part) => [part, of(part)])) as CpuByPart
}
