/** Whether the machine was quiet. */
import { setTimeout as delay } from 'node:timers/promises'
import { readMachineCpu } from './cpu.ts'

const LOOK_MS = 1_000

/** Share of all processors that other processes use. For use before the bench starts any. */
export async function shareOfOthers(): Promise<number> {
  const [before, ownBefore] = [readMachineCpu(), process.cpuUsage()]
  await delay(LOOK_MS)
  const [after, own] = [readMachineCpu(), process.cpuUsage(ownBefore)]
  const othersUs = after.busyUs - before.busyUs - own.user - own.system
  return Math.max(0, othersUs) / Math.max(1, after.allUs - before.allUs)
}
