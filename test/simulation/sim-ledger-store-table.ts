/** What the tables of the simulated database have in common. Their keys lead with the shard, as the real ones do. */

export interface RowRefusal {
  readonly cause: 'data' | 'invariant'
  readonly detail: string
}

export function broken(detail: string): RowRefusal {
  return { cause: 'invariant', detail }
}

export function push<T>(table: Map<string, T[]>, at: string, value: T): void {
  const list = table.get(at)
  if (list === undefined) table.set(at, [value])
  else list.push(value)
}

/** The rows of one shard, as a statement sees them whose snapshot is this old. */
export function copyShard<T>(
  from: ReadonlyMap<string, T>,
  to: Map<string, T>,
  shardId: number,
  clone: (value: T) => T,
): void {
  const lead = `${shardId} `
  for (const [at, value] of from) if (at.startsWith(lead)) to.set(at, clone(value))
}

export function itself<T>(value: T): T {
  return value
}
