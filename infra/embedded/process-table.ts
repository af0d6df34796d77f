/**
 * Reads the processes of this machine from /proc. Pids are reused, so a process is identified by its pid and its start time,
 * in clock ticks since boot.
 */
import { readdirSync, readFileSync } from 'node:fs'

export interface ProcessIdentity {
  readonly pid: number
  readonly startTicks: string
}

/** undefined: no such process, or a zombie. */
export function identityOf(pid: number): ProcessIdentity | undefined {
  const fields = statFields(pid)
  const startTicks = fields?.[19]
  const state = fields?.[0]
  return startTicks === undefined || state === 'Z' || state === 'X' ? undefined : { pid, startTicks }
}

export function isAlive(identity: ProcessIdentity): boolean {
  return identityOf(identity.pid)?.startTicks === identity.startTicks
}

/** Processes of this name that were started with this argument. */
export function processesOf(name: string, argument: string): readonly ProcessIdentity[] {
  const found: ProcessIdentity[] = []
  for (const entry of readdirSync('/proc')) {
    const pid = Number(entry)
    if (!Number.isInteger(pid) || readProc(pid, 'comm')?.trim() !== name) continue
    if (readProc(pid, 'cmdline')?.split('\0').includes(argument) !== true) continue
    const identity = identityOf(pid)
    if (identity !== undefined) found.push(identity)
  }
  return found
}

/** Processes of this name whose parent has another name: back ends of a killed server. */
export function strayProcessesOf(name: string): readonly number[] {
  return readdirSync('/proc')
    .map(Number)
    .filter((pid) => Number.isInteger(pid) && readProc(pid, 'comm')?.trim() === name)
    .filter((pid) => {
      const parent = Number(statFields(pid)?.[1])
      return readProc(parent, 'comm')?.trim() !== name && readProc(pid, 'cmdline')?.startsWith(`${name}: `) === true
    })
}

/** The fields of /proc/<pid>/stat after the name: state, parent, … The name may contain spaces and parentheses. */
function statFields(pid: number): readonly string[] | undefined {
  const stat = readProc(pid, 'stat')
  return stat
    ?.slice(stat.lastIndexOf(')') + 2)
    .trim()
    .split(' ')
}

function readProc(pid: number, file: string): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8')
  } catch {
    return undefined
  }
}
