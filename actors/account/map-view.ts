/** A persistent map that is read as a `ReadonlyMap`: each change makes another, which shares what did not change. */
import type { Map as PersistentMap } from 'immutable'

export abstract class MapView<V> implements ReadonlyMap<string, V> {
  protected readonly map: PersistentMap<string, V>

  constructor(map: PersistentMap<string, V>) {
    this.map = map
  }

  /** Tools that compare or print values know a map by it. */
  get [Symbol.toStringTag](): string {
    return 'Map'
  }

  get size(): number {
    return this.map.size
  }

  get(name: string): V | undefined {
    return this.map.get(name)
  }

  has(name: string): boolean {
    return this.map.has(name)
  }

  keys(): MapIterator<string> {
    return this.map.keys()
  }

  values(): MapIterator<V> {
    return this.map.values()
  }

  entries(): MapIterator<[string, V]> {
    return this.map.entries()
  }

  [Symbol.iterator](): MapIterator<[string, V]> {
    return this.map.entries()
  }

  forEach(see: (value: V, name: string, map: ReadonlyMap<string, V>) => void): void {
    for (const [name, value] of this.map) see(value, name, this)
  }
}
