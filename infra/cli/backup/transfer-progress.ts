/** Progress of a transfer on standard error: one line that changes on a terminal, else a line now and then. */
import type { CommandIo } from '../common/command.ts'

const TERMINAL_MS = 500
const LINE_MS = 10_000
const CLEAR_LINE = '\r\u001B[2K'

export interface TransferProgress {
  readonly note: (doneBytes: number, totalBytes: number) => void
  /** Removes the line. */
  readonly end: () => void
}

export function transferProgress(what: string, io: CommandIo): TransferProgress {
  const everyMs = io.terminal.error ? TERMINAL_MS : LINE_MS
  const beganMs = performance.now()
  let shownMs = beganMs
  let isShown = false
  return {
    note: (doneBytes, totalBytes) => {
      const nowMs = performance.now()
      if (nowMs - shownMs < everyMs) return
      shownMs = nowMs
      const text = `${what}: ${progressText(doneBytes, totalBytes, nowMs - beganMs)}`
      io.err(io.terminal.error ? `${CLEAR_LINE}${text}` : `${text}\n`)
      isShown = io.terminal.error
    },
    end: () => {
      if (isShown) io.err(CLEAR_LINE)
      isShown = false
    },
  }
}

/** Done and all bytes, per cent, rate and remaining time. */
export function progressText(doneBytes: number, totalBytes: number, elapsedMs: number): string {
  const share = totalBytes === 0 ? 1 : Math.min(1, doneBytes / totalBytes)
  const rate = elapsedMs === 0 ? 0 : (doneBytes / elapsedMs) * 1_000
  const leftS = rate === 0 ? undefined : Math.ceil((totalBytes - doneBytes) / rate)
  const remaining = leftS === undefined ? '' : `, ${durationText(Math.max(0, leftS))} left`
  return `${sizeText(doneBytes)} of ${sizeText(totalBytes)}, ${Math.floor(share * 100)} %, ${sizeText(rate)}/s${remaining}`
}

const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB']

export function sizeText(bytes: number): string {
  let [value, unit] = [bytes, 0]
  while (value >= 1_024 && unit < UNITS.length - 1) {
    value /= 1_024
    unit += 1
  }
  return `${unit === 0 ? Math.round(value) : value.toFixed(1)} ${UNITS[unit] ?? ''}`
}

function durationText(seconds: number): string {
  if (seconds < 60) return `${seconds} s`
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} min ${seconds % 60} s`
  return `${Math.floor(seconds / 3_600)} h ${Math.floor((seconds % 3_600) / 60)} min`
}
