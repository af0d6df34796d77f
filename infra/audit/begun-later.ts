/**
 * Runs that many ask for, one at a time: whoever asks while one is under way gets the next one, which all of them share,
 * so that nobody is told what was so before the question.
 */
export function createBegunLater<T>(run: () => Promise<T>): () => Promise<T> {
  let running: Promise<unknown> | undefined
  let next: Promise<T> | undefined

  const begin = (): Promise<T> => {
    next = undefined
    const begun = run()
    const ended = begun.then(
      () => undefined,
      () => undefined,
    )
    running = ended
    void ended.then(() => {
      if (running === ended) running = undefined
    })
    return begun
  }

  return () => {
    if (next !== undefined) return next
    if (running === undefined) return begin()
    next = running.then(begin)
    return next
  }
}
