/**
 * Shares runs among callers, one run at a time. A call during a run gets the next run, which all such calls share. Every
 * result is therefore from a run that began after the call.
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
