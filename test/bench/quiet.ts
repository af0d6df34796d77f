/** Whether the machine was quiet. */
import { setTimeout as delay } from 'node:timers/promises'
import { readMachineCpu } from './cpu.ts'

const LOOK_MS = 1_000

/** Of the processors that there are, what everything but this process uses. For use before anything is started. */
export async function shareOfOthers(): Promise<number> {
  const [before, ownBefore] = [readMachineCpu(), process.cpuUsage()]
  await delay(LOOK_MS)
  const [after, own] = [readMachineCpu(), process.cpuUsage(ownBefore)]
  const othersUs = after.busyUs - before.busyUs - own.user - own.system
  return Math.max(0, othersUs) / Math.max(1, after.allUs - before.allUs)
}
