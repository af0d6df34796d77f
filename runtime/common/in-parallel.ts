/** Bounded-concurrency maps. */

const AT_ONCE = 8

/** A failed task does not stop the others; `onFailed` gets each failure. */
export async function inParallel<T>(
  all: readonly T[],
  run: (one: T) => Promise<void>,
  onFailed: (one: T, error: unknown) => void,
): Promise<void> {
  await untilFailure(all, AT_ONCE, (one) => run(one).catch((error: unknown) => onFailed(one, error)))
}

/**
 * No task begins after a failure, or once `isOver`. Returns, or throws the first failure, after all tasks that have begun
 * are done.
 */
export async function untilFailure<T>(
  all: readonly T[],
  width: number,
  run: (one: T) => Promise<void>,
  isOver: () => boolean = () => false,
): Promise<void> {
  const waiting = all.values()
  let failure: { readonly error: unknown } | undefined
  const worker = async (): Promise<void> => {
    while (failure === undefined && !isOver()) {
      const next = waiting.next()
      if (next.done === true) return
      try {
        await run(next.value)
      } catch (error) {
        failure ??= { error }
      }
    }
  }
  await Promise.all(Array.from({ length: Math.min(width, all.length) }, worker))
  if (failure !== undefined) throw failure.error
}
