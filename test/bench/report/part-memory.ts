/** Memory of the parts of a ledger, as Linux counts it (proc(5), /proc/PID/status). */
import { readFileSync } from 'node:fs'
import type { Cluster } from '../../support/processes/cluster-process.ts'
import { type ClusterProcess, PROCESS_KINDS, type ProcessKind } from '../../support/processes/cluster-process-table.ts'

/** Bytes. */
export type MemoryByPart = Readonly<Record<ProcessKind, number>>

interface Held {
  /** A process's private memory. */
  readonly ownBytes: number
  /** Mapped files: the same ones in every process of a part. */
  readonly filesBytes: number
  /** Shared memory: PostgreSQL's buffers, which every back end counts as far as it has touched them. */
  readonly sharedBytes: number
}

const KIBIBYTE = 1024

/** Of all processes of a part together; shared memory counts once, by the process with the largest share. */
export function memoryByPart(cluster: Pick<Cluster, 'processes'>): MemoryByPart {
  const processes = cluster.processes()
  return Object.fromEntries(PROCESS_KINDS.map((kind) => [kind, memoryOf(kind, processes)])) as MemoryByPart
}

function memoryOf(kind: ProcessKind, processes: readonly ClusterProcess[]): number {
  const held = processes.filter((found) => found.kind === kind).map(({ pid }) => heldBy(pid))
  const most = (of: (one: Held) => number): number => Math.max(0, ...held.map(of))
  const own = held.reduce((sum, { ownBytes }) => sum + ownBytes, 0)
  return own + most(({ filesBytes }) => filesBytes) + most(({ sharedBytes }) => sharedBytes)
}

/** Zero once the process has ended. */
function heldBy(pid: number): Held {
  try {
    return heldIn(readFileSync(`/proc/${pid}/status`, 'utf8'))
  } catch {
    return { ownBytes: 0, filesBytes: 0, sharedBytes: 0 }
  }
}

/** From the text of /proc/PID/status. A missing entry counts as 0. */
export function heldIn(status: string): Held {
  const bytes = (name: string): number =>
    Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1] ?? 0) * KIBIBYTE
  return { ownBytes: bytes('RssAnon'), filesBytes: bytes('RssFile'), sharedBytes: bytes('RssShmem') }
}
