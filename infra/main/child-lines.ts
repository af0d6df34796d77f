/** Shows an operator what matters in the lines of a part: warnings and errors, and not the same one without end. */
import type { LogFile } from './log-file.ts'

/** The same event of the same part is shown at most once in this time. */
const REPEAT_AFTER_MS = 10_000

export function lineHandler(name: string, file: LogFile, say: (text: string) => void): (line: string) => void {
  const shownAtMs = new Map<string, number>()
  return (line) => {
    file.append(line)
    const told = worthTelling(line)
    if (told === undefined) return
    const nowMs = performance.now()
    if (nowMs - (shownAtMs.get(told.event) ?? Number.NEGATIVE_INFINITY) < REPEAT_AFTER_MS) return
    shownAtMs.set(told.event, nowMs)
    say(`${name}: ${told.text}`)
  }
}

function worthTelling(line: string): { readonly event: string; readonly text: string } | undefined {
  let parsed: unknown
  try {
    parsed = JSON.parse(line)
  } catch {
    // What is no line of our log was written by something that had no log: a crash, for example.
    return { event: line, text: line }
  }
  if (typeof parsed !== 'object' || parsed === null) return undefined
  const { time: _time, level, event, part: _part, id: _id, pid: _pid, ...fields } = parsed as Record<string, unknown>
  if (level !== 'warn' && level !== 'error') return undefined
  const rest = Object.entries(fields).map(([field, value]) => `${field}=${JSON.stringify(value)}`)
  return { event: String(event), text: [level, String(event), ...rest].join(' ') }
}

/** PostgreSQL and nats-server: lines of their own that say more than that all is well. */
export function serverLineHandler(name: string, file: LogFile, say: (text: string) => void): (line: string) => void {
  return (line) => {
    file.append(line)
    if (
      /\b(?:PANIC|FATAL|ERROR):|\[(?:FTL|ERR)\]/.test(line) &&
      !/the database system is (?:starting|shutting)/.test(line)
    ) {
      say(`${name}: ${line}`)
    }
  }
}
