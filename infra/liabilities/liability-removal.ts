/** Removes old runs even if no new one is requested, because they contain the liabilities to every account. */
import type { Connection } from '../postgres/connection/connection.ts'
import { removeOldRuns } from './liability-runs.ts'
import { connectRun, tryLock, whileOpen } from './liability-session.ts'

/** Interval between removals, milliseconds. */
const EVERY_MS = 600_000

export interface RunRemovalOptions {
  readonly url: string
  readonly everyMs?: number | undefined
  readonly onFailed: (error: unknown) => void
}

export interface RunRemoval {
  /** Aborts a removal in progress. The next removal continues it. */
  readonly close: () => Promise<void>
}

export function startRunRemoval({ url, everyMs = EVERY_MS, onFailed }: RunRemovalOptions): RunRemoval {
  let connection: Connection | undefined
  let underWay: Promise<void> | undefined
  let closed = false

  async function remove(): Promise<void> {
    try {
      connection = await connectRun(url, 'ledger liability removal')
      // A run that holds the lock has removed old runs itself.
      if (!closed && (await tryLock(connection.sql))) await whileOpen(connection, removeOldRuns(connection.sql))
    } catch (error) {
      if (!closed) onFailed(error)
    } finally {
      connection?.destroy()
      underWay = undefined
    }
  }

  const timer = setInterval(() => {
    underWay ??= remove()
  }, everyMs)
  timer.unref()
  return {
    close: async () => {
      closed = true
      clearInterval(timer)
      connection?.destroy()
      await underWay
    },
  }
}
