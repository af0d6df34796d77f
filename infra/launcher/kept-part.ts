/**
 * A part of a running ledger that is kept running: started again when it dies.
 *   R1. It is started again after a pause that grows while it keeps dying, and is short again once it has run for a while.
 *   R2. Once it is told to stop it is never started again.
 */
export interface RunningPart {
  readonly pid: number
  readonly exited: Promise<{ readonly code: number | null; readonly signal: string | null }>
  /** In order; resolves when it is gone. */
  readonly stop: () => Promise<void>
  /** At once. */
  readonly kill: () => void
}

export interface KeptPartOptions<T extends RunningPart> {
  readonly name: string
  readonly start: () => Promise<T>
  readonly say: (text: string) => void
  /** After each start but the first. */
  readonly onRestarted?: (part: T) => void
}

export interface KeptPart<T extends RunningPart> {
  readonly name: string
  readonly current: () => T
  /** Ends it at once so that it starts again, with what `start` gives then. */
  readonly restart: () => void
  readonly stop: () => Promise<void>
  readonly kill: () => void
}

const FIRST_PAUSE_MS = 250
const LONGEST_PAUSE_MS = 5_000
/** Having run so long, it counts as sound. */
const SOUND_AFTER_MS = 30_000

/** The first start must succeed: its error is the caller's. */
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
    let nextPauseMs = performance.now() - startedMs > SOUND_AFTER_MS ? FIRST_PAUSE_MS : pauseMs
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
        // A start that was under way as the stop came may have given another one.
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
