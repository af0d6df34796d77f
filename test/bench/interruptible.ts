/**
 * Work that starts processes and can be interrupted at any moment.
 *   B1. Whatever ends it, a signal included, all that was begun is ended, the last first, before the process is.
 */
import { Closing } from '../support/closing.ts'
import { say } from './context.ts'

export interface Begun {
  /** Whatever is begun and not ended when this comes is ended by itself. */
  readonly interrupted: AbortSignal
  /** Called once, when the work ends, however it does. */
  readonly onEnd: (end: () => Promise<unknown> | void) => void
  /** What is being started, once it has: a signal that comes meanwhile ends it, too. */
  readonly started: <T extends { readonly stop: () => Promise<void> | void }>(starting: Promise<T>) => Promise<T>
}

/** The work was ended by a signal. */
export class Interrupted extends Error {
  override readonly name = 'Interrupted'
}

export const EXIT_INTERRUPTED = 130
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/** Rejects with `Interrupted` after a signal; the process then ends by itself when everything else has. */
export async function interruptible<T>(work: (begun: Begun) => Promise<T>): Promise<T> {
  const closing = new Closing()
  const interruption = new AbortController()
  const { signal: interrupted } = interruption
  let ending: Promise<void> | undefined
  const end = (): Promise<void> => (ending ??= closing.close())
  const onSignal = (): void => {
    // A terminal and npm may each pass the same Ctrl-C on.
    if (interrupted.aborted) return
    interruption.abort(new Interrupted())
    say('Ending everything ...')
    void end().finally(() => process.exit(EXIT_INTERRUPTED))
  }
  const onEnd = (end: () => Promise<unknown> | void): void => {
    closing.add(end)
    if (interrupted.aborted) void closing.close()
  }
  for (const signal of SIGNALS) process.on(signal, onSignal)
  try {
    return await work({
      interrupted,
      onEnd,
      started: async (starting) => {
        onEnd(async () => (await starting.catch(() => undefined))?.stop())
        const begun = await starting
        interrupted.throwIfAborted()
        return begun
      },
    })
  } finally {
    interrupted.throwIfAborted()
    await end()
    for (const signal of SIGNALS) process.off(signal, onSignal)
  }
}
