/**
 * Limits a process to a share of one processor, by a control group of the Linux kernel (cgroups(7), version 1 or 2).
 */
import { existsSync, mkdirSync, rmdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

export interface CpuQuota {
  /** Limits the process with all its threads from now on. */
  readonly hold: (pid: number) => void
  /** Call once no process is limited any more. */
  readonly remove: () => void
}

/** Short, so that a process that has used its share waits only some milliseconds. */
const PERIOD_US = 10_000
const VERSION_1 = '/sys/fs/cgroup/cpu'
const VERSION_2 = '/sys/fs/cgroup'

/** `share`: of one processor, above 0. Throws if this process may not create control groups. */
export function createCpuQuota(name: string, share: number): CpuQuota {
  const isVersion1 = existsSync(join(VERSION_1, 'cpu.cfs_quota_us'))
  const directory = join(isVersion1 ? VERSION_1 : VERSION_2, name)
  const quotaUs = Math.round(share * PERIOD_US)
  try {
    mkdirSync(directory, { recursive: true })
    if (isVersion1) {
      writeFileSync(join(directory, 'cpu.cfs_period_us'), String(PERIOD_US))
      writeFileSync(join(directory, 'cpu.cfs_quota_us'), String(quotaUs))
    } else writeFileSync(join(directory, 'cpu.max'), `${quotaUs} ${PERIOD_US}`)
  } catch (cause) {
    throw new Error('--scaling needs the right to make control groups for processor time (root, on Linux)', { cause })
  }
  return {
    hold: (pid) => writeFileSync(join(directory, 'cgroup.procs'), String(pid)),
    remove: () => rmdirSync(directory),
  }
}
