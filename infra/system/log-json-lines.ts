/**
 * Writes one JSON object per line: `time`, `level`, `event`, the fields of the process, then the fields of the event.
 * Callers pass no secrets. As a second line of defense, URLs with a password and private keys are masked.
 */
import type { Log, LogFields } from '../../runtime/ports/log.ts'

export const LOG_LEVELS = ['debug', 'info', 'warn', 'error'] as const
export type LogLevel = (typeof LOG_LEVELS)[number]

export interface JsonLinesLogOptions {
  readonly level: LogLevel
  /** Fields of every line, such as the part and the node's ID. */
  readonly fields: LogFields
  readonly write: (line: string) => void
}

/** Longer texts are cut, because payloads do not belong in a log. */
const LONGEST_TEXT = 2_000

export function createJsonLinesLog(options: JsonLinesLogOptions): Log {
  const from = LOG_LEVELS.indexOf(options.level)
  const writer =
    (level: LogLevel) =>
    (event: string, fields: LogFields = {}): void => {
      if (LOG_LEVELS.indexOf(level) < from) return
      const line = { time: new Date().toISOString(), level, event, ...options.fields, ...masked(fields) }
      options.write(`${JSON.stringify(line)}\n`)
    }
  const log = { info: writer('info'), warn: writer('warn'), error: writer('error') }
  return options.level === 'debug' ? { ...log, debug: writer('debug') } : log
}

function masked(fields: LogFields): LogFields {
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [name, typeof value === 'string' ? maskSecrets(value) : value]),
  )
}

export function maskSecrets(text: string): string {
  return text
    .slice(0, LONGEST_TEXT)
    .replaceAll(/([a-z][a-z0-9+.-]*:\/\/)[^\s/@]+@/gi, '$1***@')
    .replaceAll(/-----BEGIN [A-Z ]*PRIVATE KEY-----[^-]*(-----END [A-Z ]*PRIVATE KEY-----)?/g, '***')
}
