/** Shows an operator what matters in the lines of a part: warnings and errors, and not the same one without end. */
import type { LogFile } from './log-file.ts'

/** The same event of the same part is shown at most once in this time. */
const REPEAT_AFTER_MS = 10_000
/** Different events that are remembered for it. */
const MAX_EVENTS = 1_000

export function lineHandler(name: string, file: LogFile, say: (text: string) => void): (line: string) => void {
  const sayOnce = withoutRepeats(say)
  return (line) => {
    // The launcher has given the same warnings about the same configuration.
    if (line.startsWith('warning: ')) return
    file.append(line)
    const told = worthTelling(line)
    if (told !== undefined) sayOnce(told.event, `${name}: ${told.text}`)
  }
}

function withoutRepeats(say: (text: string) => void): (event: string, text: string) => void {
  const shownAtMs = new Map<string, number>()
  return (event, text) => {
    const nowMs = performance.now()
    if (nowMs - (shownAtMs.get(event) ?? Number.NEGATIVE_INFINITY) < REPEAT_AFTER_MS) return
    if (shownAtMs.size >= MAX_EVENTS) shownAtMs.clear()
    shownAtMs.set(event, nowMs)
    say(text)
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

const TROUBLE = /(?:\b(?:PANIC|FATAL|ERROR):|\[(?:FTL|ERR)\]).*$/
/** Progress of a start that replays the log: after a crash, or to restore a backup. */
const PROGRESS = /\bLOG: +(?:redo in progress|restored log file|syncing data directory).*$/
/** What clients hear while the server comes or goes. */
const PASSING = /the database system is (?:starting up|shutting down|in recovery mode)/

/** Warnings, errors and start progress of PostgreSQL and nats-server, without time and pid, so that repeats are equal. */
export function serverLineHandler(name: string, file: LogFile, say: (text: string) => void): (line: string) => void {
  const sayOnce = withoutRepeats(say)
  return (line) => {
    file.append(line)
    const [trouble] = TROUBLE.exec(line) ?? []
    if (trouble !== undefined && !PASSING.test(trouble)) sayOnce(trouble, `${name}: ${trouble}`)
    const [progress] = PROGRESS.exec(line) ?? []
    if (progress !== undefined) sayOnce('progress', `${name}: ${progress}`)
  }
}
