/** Bounded concurrency over what may fail. */

const AT_ONCE = 8

/** A few at a time; one that fails does not stop the others, and is tried again by the next look. */
export async function inParallel<T>(all: readonly T[], run: (one: T) => Promise<void>): Promise<void> {
  const queue = [...all]
  const worker = async () => {
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) await run(next).catch(() => undefined)
  }
  await Promise.all(Array.from({ length: AT_ONCE }, worker))
}
