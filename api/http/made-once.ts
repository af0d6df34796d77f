/** Makes a value for the first caller, and keeps it for all. */

export type MadeOnce<T> = (name: string, make: () => Promise<T>) => Promise<T>

/** Nothing is evicted: the names are those of a fixed set. A failure is not kept. */
export function createMadeOnce<T>(): MadeOnce<T> {
  const kept = new Map<string, Promise<T>>()
  return (name, make) => {
    const known = kept.get(name)
    if (known !== undefined) return known
    const made = make().catch((error: unknown) => {
      kept.delete(name)
      throw error
    })
    kept.set(name, made)
    return made
  }
}
