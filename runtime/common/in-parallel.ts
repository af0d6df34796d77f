/** Bounded-concurrency map over tasks that may fail. */

const AT_ONCE = 8

/** A failed task does not stop the others; `onFailed` gets each failure. */
export async function inParallel<T>(
  all: readonly T[],
  run: (one: T) => Promise<void>,
  onFailed: (one: T, error: unknown) => void,
): Promise<void> {
  const queue = [...all]
  const worker = async () => {
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
      const one = next
      await run(one).catch((error: unknown) => onFailed(one, error))
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, worker))
}
