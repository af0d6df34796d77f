/** How far the runs are: one line, written anew on a terminal, now and then elsewhere. */
import type { Sums } from './runner-summary.ts'
import { spanText } from './runner-summary.ts'

export interface Progress {
  /** After each seed. */
  readonly seen: (sums: Sums) => void
  readonly note: (line: string) => void
  /** Leaves the line before anything else is written. */
  readonly end: () => void
}

const TERMINAL_EVERY_MS = 500
const PLAIN_EVERY_MS = 10_000

export function createProgress(output: NodeJS.WriteStream, nowMs: () => number): Progress {
  const startedMs = nowMs()
  const everyMs = output.isTTY ? TERMINAL_EVERY_MS : PLAIN_EVERY_MS
  let writtenMs = startedMs
  let isOpen = false
  const write = (line: string): void => {
    if (nowMs() - writtenMs < everyMs) return
    writtenMs = nowMs()
    output.write(output.isTTY ? `\r\u001b[K${line}` : `${line}\n`)
    isOpen = output.isTTY
  }
  return {
    seen: (sums) => {
      const wallS = (nowMs() - startedMs) / 1000
      const speed = `${(sums.seeds / wallS).toFixed(1)} seeds/s`
      const simulated = `${spanText(sums.virtualMs)} simulated, ${(sums.virtualMs / 1000 / wallS).toFixed(0)} s in a second`
      write(`${sums.seeds} seeds, ${sums.failures.length} failed, ${speed}, ${simulated}`)
    },
    note: write,
    end: () => {
      if (isOpen) output.write('\n')
      isOpen = false
    },
  }
}
