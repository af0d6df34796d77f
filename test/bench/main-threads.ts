/** CPU time of the main threads: one that has no time left bounds its process, however many processors are idle. */
import { readFileSync } from 'node:fs'
import type { Cluster } from '../support/cluster-process.ts'
import { TICK_US } from './machine-cpu.ts'

export type ThreadedPart = 'edge' | 'node' | 'load generator'

/** Microseconds by process. */
export type MainThreads = Readonly<Record<ThreadedPart, ReadonlyMap<number, number>>>

export function readMainThreads(cluster: Cluster, loadPid: number): MainThreads {
  const of = (pids: readonly number[]): ReadonlyMap<number, number> => new Map(pids.map((pid) => [pid, mainUsOf(pid)]))
  const heads = (kind: 'edge' | 'node'): readonly number[] => cluster.heads(kind).map(({ pid }) => pid)
  return { edge: of(heads('edge')), node: of(heads('node')), 'load generator': of([loadPid]) }
}

/** Of each part the busiest, as a share of `elapsedMs`. */
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
