import { readFileSync } from 'node:fs'

/** USER_HZ, which Linux has fixed at 100 for every architecture that Node.js runs on. */
const TICK_MS = 10

/** What the main thread of a process has used of the processors; undefined when the process is gone. */
export function mainThreadCpuMs(pid: number): number | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/task/${pid}/stat`, 'utf8')
    // proc(5): the name is in brackets and may hold anything; utime and stime are the 12th and 13th behind it.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return (Number(fields[11]) + Number(fields[12])) * TICK_MS
  } catch {
    return undefined
  }
}
