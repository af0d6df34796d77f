/**
 * Keeps a part of the ledger running: restarts it after it has ended.
 *   R1. The pause before a restart doubles with each failure, and is short again after the part has run for a while.
 *   R2. A part is never restarted after `stop` or `kill`.
 */
export interface RunningPart {
  readonly pid: number
  readonly exited: Promise<{ readonly code: number | null; readonly signal: string | null }>
  /** Stops the part in order, and resolves when it has ended. */
  readonly stop: () => Promise<void>
  readonly kill: () => void
}

export interface KeptPartOptions<T extends RunningPart> {
  readonly name: string
  readonly start: () => Promise<T>
  readonly say: (text: string) => void
  /** Called after each start but the first. */
  readonly onRestarted?: (part: T) => void
}

export interface KeptPart<T extends RunningPart> {
  readonly name: string
  readonly current: () => T
  /** Kills the part, which starts it again. */
  readonly restart: () => void
  readonly stop: () => Promise<void>
  readonly kill: () => void
}

const FIRST_PAUSE_MS = 250
const LONGEST_PAUSE_MS = 5_000
/** A part that has run so long counts as stable. */
const STABLE_AFTER_MS = 30_000

/** Rejects if the first start fails. */
export async function keepRunning<T extends RunningPart>(options: KeptPartOptions<T>): Promise<KeptPart<T>> {
  const { name, say } = options
  let current = await options.start()
  let stopping = false
  const mayRun = (): boolean => !stopping
  let wake: () => void = () => undefined

  const pause = (pauseMs: number): Promise<void> =>
    new Promise((resolve) => {
      const timer = setTimeout(resolve, pauseMs)
      wake = () => {
        clearTimeout(timer)
        resolve()
      }
    })

  const startAgain = async (startedMs: number, pauseMs: number): Promise<number> => {
    let nextPauseMs = performance.now() - startedMs > STABLE_AFTER_MS ? FIRST_PAUSE_MS : pauseMs
    while (mayRun()) {
      await pause(nextPauseMs)
      if (!mayRun()) break
      nextPauseMs = Math.min(nextPauseMs * 2, LONGEST_PAUSE_MS)
      try {
        current = await options.start()
        say(`${name}: started again (process ${current.pid})`)
        options.onRestarted?.(current)
        break
      } catch (error) {
        say(`${name}: could not be started again: ${error instanceof Error ? error.message : String(error)}`)
      }
    }
    return nextPauseMs
  }

  const watch = async (): Promise<void> => {
    let pauseMs = FIRST_PAUSE_MS
    while (mayRun()) {
      const startedMs = performance.now()
      const { code, signal } = await current.exited
      if (!mayRun()) return
      say(`${name}: ended unexpectedly (${signal ?? `exit code ${code ?? 'unknown'}`})`)
      pauseMs = await startAgain(startedMs, pauseMs)
    }
  }
  const watching = watch()

  return {
    name,
    current: () => current,
    restart: () => current.kill(),
    stop: async () => {
      stopping = true
      wake()
      try {
        await current.stop()
      } finally {
        await watching
        // A start in progress may have replaced the part.
        await current.stop()
      }
    },
    kill: () => {
      stopping = true
      wake()
      current.kill()
    },
  }
}
