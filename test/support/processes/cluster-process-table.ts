/** The processes of a ledger that `ledger up` runs, as Linux shows them (/proc): what each is, and what CPU it has used. */
import { readdirSync, readFileSync } from 'node:fs'

export const PROCESS_KINDS = ['edge', 'node', 'auditor', 'nats-server', 'postgresql', 'supervisor'] as const
export type ProcessKind = (typeof PROCESS_KINDS)[number]

export interface ClusterProcess {
  readonly kind: ProcessKind
  readonly pid: number
  /** The first of its kind: for PostgreSQL the postmaster, whose children are of the kind too. */
  readonly head: boolean
  /** Of all its threads, microseconds; for the postmaster with the children that it has outlived. */
  readonly cpuUs: number
}

/** USER_HZ, which Linux has fixed at 100 for every architecture that Node.js runs on. */
const TICK_US = 10_000

interface Row {
  readonly pid: number
  readonly parent: number
  readonly command: readonly string[]
  readonly ownTicks: number
  readonly childrenTicks: number
}

/** All that descends from `root`, itself included. */
export function clusterProcesses(root: number): readonly ClusterProcess[] {
  const rows = readdirSync('/proc')
    .map(Number)
    .filter((pid) => Number.isInteger(pid))
    .map(rowOf)
    .filter((row) => row !== undefined)
  const childrenOf = new Map<number, Row[]>()
  for (const row of rows) {
    const siblings = childrenOf.get(row.parent)
    if (siblings === undefined) childrenOf.set(row.parent, [row])
    else siblings.push(row)
  }
  const found: ClusterProcess[] = []
  const visit = (row: Row, above: ProcessKind): void => {
    const kind = kindOf(row.command) ?? above
    const head = row.pid === root || kind !== above
    const ticks = row.ownTicks + (kind === 'postgresql' && head ? row.childrenTicks : 0)
    found.push({ kind, pid: row.pid, head, cpuUs: ticks * TICK_US })
    for (const child of childrenOf.get(row.pid) ?? []) visit(child, kind)
  }
  const top = rows.find((row) => row.pid === root)
  if (top !== undefined) visit(top, 'supervisor')
  return found
}

export function cpuUsOf(pid: number): number {
  return (rowOf(pid)?.ownTicks ?? 0) * TICK_US
}

/** A process that has ended and is only not yet collected is none. */
function rowOf(pid: number): Row | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // Behind the name, which may hold spaces and brackets (proc(5)): state, parent, …, utime, stime, cutime, cstime.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    if (fields[0] === 'Z' || fields[0] === 'X') return undefined
    const ticks = (index: number): number => Number(fields[index])
    return {
      pid,
      parent: ticks(1),
      command: readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0'),
      ownTicks: ticks(11) + ticks(12),
      childrenTicks: ticks(13) + ticks(14),
    }
  } catch {
    return undefined
  }
}

function kindOf(command: readonly string[]): ProcessKind | undefined {
  const program = command[0]?.split('/').at(-1) ?? ''
  if (program === 'nats-server') return 'nats-server'
  if (program === 'postgres' || program.startsWith('postgres: ')) return 'postgresql'
  if (program !== 'node') return undefined
  return (['node', 'edge', 'auditor'] as const).find((kind) => command.slice(1).includes(kind))
}
