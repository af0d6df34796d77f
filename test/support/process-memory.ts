/** How much memory processes hold while something happens, as Linux says (/proc/<pid>/status, VmRSS). */
import { readFileSync } from 'node:fs'

export interface MemoryUse {
  /** Before it began. */
  readonly baseBytes: number
  readonly peakBytes: number
}

const LOOK_EVERY_MS = 100

/** Of each process, in order. Throws when one is not there at the beginning or at the end. */
export async function memoryDuring(
  pids: readonly number[],
  happens: () => Promise<void>,
): Promise<readonly MemoryUse[]> {
  const bases = pids.map(residentBytes)
  const peaks = [...bases]
  const look = (): void => {
    for (const [index, pid] of pids.entries()) peaks[index] = Math.max(peaks[index] ?? 0, residentBytes(pid))
  }
  let failure: unknown
  const timer = setInterval(() => {
    try {
      look()
    } catch (cause) {
      failure ??= cause
    }
  }, LOOK_EVERY_MS)
  try {
    await happens()
  } finally {
    clearInterval(timer)
  }
  look()
  if (failure !== undefined) throw failure
  return bases.map((baseBytes, index) => ({ baseBytes, peakBytes: peaks[index] ?? baseBytes }))
}

/** Throws when there is no such process. */
function residentBytes(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  const kibibytes = /^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]
  if (kibibytes === undefined) throw new Error(`process ${pid} holds no memory`)
  return Number(kibibytes) * 1024
}
