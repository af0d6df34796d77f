/** A persistent map, read as a `ReadonlyMap`: a change makes a new map that shares the unchanged parts. */
import type { Map as PersistentMap } from 'immutable'

export abstract class MapView<V> implements ReadonlyMap<string, V> {
  protected readonly map: PersistentMap<string, V>

  constructor(map: PersistentMap<string, V>) {
    this.map = map
  }

  /** Makes test and debug tools treat the object as a map. */
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
