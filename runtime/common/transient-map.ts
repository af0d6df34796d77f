/**
 * A map for short-lived entries, which keeps no reference to a deleted entry. A Map under steady change replaces its
 * table often, and V8 links the old table to the new one, for iterators. Once an old table is dead in the old
 * generation, all later tables, with all their former entries, survive until the next major collection, and each minor
 * collection copies them. Here a table holds cells, and deleting an entry empties its cell.
 */
export class TransientMap<K, V extends {}> {
  private readonly cells = new Map<K, Cell<V>>()

  get size(): number {
    return this.cells.size
  }

  has(key: K): boolean {
    return this.cells.has(key)
  }

  get(key: K): V | undefined {
    return this.cells.get(key)?.value
  }

  /** An existing key keeps its place. */
  set(key: K, value: V): void {
    const cell = this.cells.get(key)
    if (cell === undefined) this.cells.set(key, { value })
    else cell.value = value
  }

  /** Returns whether the key existed. */
  delete(key: K): boolean {
    const cell = this.cells.get(key)
    if (cell === undefined) return false
    cell.value = undefined
    return this.cells.delete(key)
  }

  clear(): void {
    for (const cell of this.cells.values()) cell.value = undefined
    this.cells.clear()
  }

  /** In order of insertion; entries may be added and deleted meanwhile. */
  *values(): IterableIterator<V> {
    for (const { value } of this.cells.values()) if (value !== undefined) yield value
  }

  *[Symbol.iterator](): IterableIterator<readonly [K, V]> {
    for (const [key, { value }] of this.cells) if (value !== undefined) yield [key, value]
  }
}

interface Cell<V> {
  /** undefined: the entry is deleted. */
  value: V | undefined
}
