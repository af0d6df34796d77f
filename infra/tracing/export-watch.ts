/** Counts the spans that wait for an exporter, and reports lost spans by one line when that begins and one when it has ended. */
import { type ExportResult, ExportResultCode } from '@opentelemetry/core'
import type { SpanExporter } from '@opentelemetry/sdk-trace'
import type { Log } from '../../runtime/ports/log.ts'

export interface ExportWatch {
  readonly exporter: SpanExporter
  /** Called for each span. False: it must be dropped, because too many wait. */
  readonly admits: () => boolean
}

interface WatchContext {
  /** Spans. */
  readonly maxQueued: number
  readonly log: Log
  /** Monotonic. */
  readonly nowMs: () => number
}

/** Losses end when none has happened for so long: so there are at most two lines in this time. */
export const QUIET_MS = 60_000

export function watchExports(inner: SpanExporter, { maxQueued, log, nowMs }: WatchContext): ExportWatch {
  let queued = 0
  let lost = 0
  let lostAtMs = 0
  const lose = (spans: number, event: string, cause: string): void => {
    if (lost === 0) log.warn(event, { cause })
    lost += spans
    lostAtMs = nowMs()
  }
  const exported = (): void => {
    if (lost === 0 || nowMs() - lostAtMs < QUIET_MS) return
    log.info('spans_exported_again', { lost })
    lost = 0
  }
  const finished = (spans: number, { code, error }: ExportResult): void => {
    if (code === ExportResultCode.SUCCESS) exported()
    else lose(spans, 'spans_not_exported', causeOf(error))
  }
  return {
    exporter: {
      export: (spans, done) => {
        queued -= spans.length
        inner.export(spans, (result) => {
          finished(spans.length, result)
          done(result)
        })
      },
      shutdown: () => inner.shutdown(),
    },
    admits: () => {
      if (queued >= maxQueued) {
        lose(1, 'spans_dropped', 'spans come faster than the collector takes them')
        return false
      }
      queued += 1
      return true
    },
  }
}

/** Without texts of the collector. */
function causeOf(error: (Error & { readonly code?: unknown }) | undefined): string {
  const { code } = error ?? {}
  if (typeof code === 'number') return `HTTP status ${code}`
  return typeof code === 'string' ? code : 'no valid response in time'
}
