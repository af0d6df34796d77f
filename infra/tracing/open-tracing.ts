/** Opens the export of spans of a process, if it is on. If it is off, no package of OpenTelemetry is loaded for it. */
import type { Log } from '../../runtime/ports/log.ts'
import type { Tracing } from '../../runtime/ports/tracing.ts'
import type { TracingSettings } from '../config/tracing-variables.ts'

interface TracingContext {
  /** undefined: off. */
  readonly settings: TracingSettings | undefined
  readonly part: 'node' | 'edge'
  /** Distinguishes processes of one service. */
  readonly instance: string
  readonly log: Log
  readonly onStop: (name: string, stop: () => Promise<void>) => void
}

/** Called before other parts are opened: spans of their last work are exported when they have stopped. */
export async function openTracing(context: TracingContext): Promise<Tracing | undefined> {
  const { settings, part, instance, log, onStop } = context
  if (settings === undefined) return undefined
  const { createOtlpTracing } = await import('./tracing-otlp.ts')
  const { stop, ...tracing } = createOtlpTracing({ settings, part, instance, log })
  onStop('tracing', stop)
  log.info('tracing_started', { sampler: settings.sampler })
  return tracing
}
