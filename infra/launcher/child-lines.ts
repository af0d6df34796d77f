/** Shows warnings and errors of a part's log to the operator, without frequent repetitions. */
import type { LogFile } from './log-file.ts'

/** An event of a part is shown at most once in this time. */
const REPEAT_AFTER_MS = 10_000
/** Bounds the memory of events. */
const MAX_EVENTS = 1_000

export function lineHandler(name: string, file: LogFile, say: (text: string) => void): (line: string) => void {
  const sayOnce = withoutRepeats(say)
  return (line) => {
    // The launcher has already shown the warnings about the configuration.
    if (line.startsWith('warning: ')) return
    file.append(line)
    const report = reportOf(line)
    if (report !== undefined) sayOnce(report.event, `${name}: ${report.text}`)
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

function reportOf(line: string): { readonly event: string; readonly text: string } | undefined {
  let parsed: unknown
  try {
    parsed = JSON.parse(line)
  } catch {
    // Only code without a log writes other lines, such as a crash report.
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
/** PostgreSQL's refusals while it starts or stops. */
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
