/**
 * The life of every long-running process: it starts, runs until a signal or a failure, and stops in order.
 *   S1. SIGTERM, SIGINT, SIGHUP and the end of the launcher stop the process in order; a second signal ends it at once.
 *   S2. Stopping has a deadline, after which the process exits.
 *   S3. An uncaught error ends the process, because only a restart recovers unfinished work.
 */
import type { Log } from '../../runtime/ports/log.ts'
import { maskSecrets } from '../system/log-json-lines.ts'
import { describeError } from './error-description.ts'

export interface ServiceProcess {
  /** Stops the process in order, with exit code 1. */
  readonly fail: (reason: string) => void
  readonly stopping: () => boolean
  /** Fails the process if the connection closes for good. null: the process has closed it. */
  readonly failOn: (closed: Promise<string | null>, what: string) => Promise<void>
  /** The callbacks run in reverse order. */
  readonly onStop: (name: string, stop: () => Promise<void> | void) => void
  /** Returns the resource, and closes it in that order. */
  readonly keep: <T extends Closable>(name: string, resource: T) => T
}

interface Closable {
  readonly close: () => Promise<void> | void
}

const STOP_TIMEOUT_MS = 20_000
/** Time to write the last lines of the log. */
const LINGER_MS = 500
const SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const

/** Runs `start`, waits for the end, and returns the exit code. */
export async function runService(log: Log, start: (service: ServiceProcess) => Promise<void>): Promise<number> {
  const stops: { readonly name: string; readonly stop: () => Promise<void> | void }[] = []
  let stopping = false
  let exitCode = 0
  let end: () => void = () => undefined
  const ended = new Promise<void>((resolve) => {
    end = resolve
  })
  const stopFor = (reason: string, code: number): void => {
    if (stopping) return
    stopping = true
    exitCode = code
    if (code === 0) log.info('stopping', { reason })
    else log.error('failed', { reason: maskSecrets(reason) })
    end()
  }
  for (const signal of SIGNALS) {
    process.on(signal, () => {
      if (stopping) process.exit(1)
      stopFor(signal, 0)
    })
  }
  process.once('disconnect', () => stopFor('the launcher has ended', 0))
  process.on('uncaughtException', (error) => stopFor(describeError(error), 1))
  process.on('unhandledRejection', (error) => stopFor(describeError(error), 1))
  const service: ServiceProcess = {
    fail: (reason) => stopFor(reason, 1),
    stopping: () => stopping,
    failOn: async (closed, what) => {
      const reason = await closed
      if (reason !== null) stopFor(`${what} is closed for good: ${reason}`, 1)
    },
    onStop: (name, stop) => void stops.push({ name, stop }),
    keep: (name, resource) => {
      stops.push({ name, stop: () => resource.close() })
      return resource
    },
  }
  start(service).catch((error: unknown) => stopFor(describeError(error), 1))
  await ended
  const late = setTimeout(() => {
    log.error('stop_took_too_long', {})
    process.exit(1)
  }, STOP_TIMEOUT_MS)
  for (const { name, stop } of stops.reverse()) {
    await Promise.resolve(stop()).catch((error: unknown) =>
      log.warn('stop_failed', { part: name, error: describeError(error) }),
    )
  }
  clearTimeout(late)
  log.info('stopped', {})
  // The channel to the launcher keeps the process alive.
  if (process.connected) process.disconnect()
  // A driver may leave a socket or timer open.
  setTimeout(() => process.exit(exitCode), LINGER_MS).unref()
  return exitCode
}
