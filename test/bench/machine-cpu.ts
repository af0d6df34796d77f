/** What all processors of the machine have been doing, as Linux counts it (proc(5), /proc/stat). */
import { readFileSync } from 'node:fs'

/** Microseconds since the machine was started, of all processors together. */
export interface MachineCpu {
  readonly busyUs: number
  /** Also what the hypervisor kept for others: counted as busy, too. */
  readonly allUs: number
}

/** USER_HZ, which Linux has fixed at 100 for every architecture that Node.js runs on. */
export const TICK_US = 10_000
const IDLE_FIELDS = [3, 4]
/** user, nice, system, idle, iowait, irq, softirq, steal; what guests used is in user and nice already. */
const FIELDS = 8

export function readMachineCpu(): MachineCpu {
  return machineCpuOf(readFileSync('/proc/stat', 'utf8'))
}

/** Of the text of /proc/stat. */
export function machineCpuOf(text: string): MachineCpu {
  const ticks = (text.split('\n')[0] ?? '')
    .split(/\s+/)
    .slice(1, 1 + FIELDS)
    .map(Number)
  const all = ticks.reduce((sum, value) => sum + value, 0)
  const idle = IDLE_FIELDS.reduce((sum, field) => sum + (ticks[field] ?? 0), 0)
  return { busyUs: (all - idle) * TICK_US, allUs: all * TICK_US }
}
