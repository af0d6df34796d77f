/** Removes runs that nobody asks for any more, whether or not another is asked for: they say what every account is owed. */
import type { Connection } from '../postgres/connection/connection.ts'
import { connectRun, tryLock, whileOpen } from './liability-connection.ts'
import { removeOldRuns } from './liability-runs.ts'

/** Between one look and the next, milliseconds: a run is gone soon after its day. */
const EVERY_MS = 600_000

export interface RunRemovalOptions {
  readonly url: string
  readonly everyMs?: number | undefined
  readonly onFailed: (error: unknown) => void
}

export interface RunRemoval {
  /** What is under way is broken off: whoever looks next goes on with it. */
  readonly close: () => Promise<void>
}

export function startRunRemoval({ url, everyMs = EVERY_MS, onFailed }: RunRemovalOptions): RunRemoval {
  let connection: Connection | undefined
  let underWay: Promise<void> | undefined
  let closed = false

  async function remove(): Promise<void> {
    try {
      connection = await connectRun(url, 'ledger liability removal')
      // Whoever is in a run has the lock, and has removed them.
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
