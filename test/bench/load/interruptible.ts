/**
 * Work that starts processes and can be interrupted at any moment.
 *   B1. At its end, also by a signal, all started resources are ended in reverse order, and then the process.
 */
import { Closing } from '../../support/closing.ts'
import { say } from '../context.ts'

export interface Begun {
  /** Resources that were started and not ended when the work ends are ended automatically. */
  readonly interrupted: AbortSignal
  /** Called once when the work ends, in any way. */
  readonly onEnd: (end: () => Promise<unknown> | void) => void
  /** Registers a starting resource: a signal in the meantime ends it as well. */
  readonly started: <T extends { readonly stop: () => Promise<void> | void }>(starting: Promise<T>) => Promise<T>
}

/** A signal ended the work. */
export class Interrupted extends Error {
  override readonly name = 'Interrupted'
}

export const EXIT_INTERRUPTED = 130
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/** Rejects with `Interrupted` after a signal; the process then ends by itself once all resources are ended. */
export async function interruptible<T>(work: (begun: Begun) => Promise<T>): Promise<T> {
  const closing = new Closing()
  const interruption = new AbortController()
  const { signal: interrupted } = interruption
  let ending: Promise<void> | undefined
  const end = (): Promise<void> => (ending ??= closing.close())
  const onSignal = (): void => {
    // A terminal and npm may each pass on the same Ctrl-C.
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
