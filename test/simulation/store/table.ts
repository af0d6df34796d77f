/** Helpers of the tables of the simulated database. Their keys lead with the shard, as in the real schema. */
import type { ShardBatch } from '../../../runtime/ports/ledger-store.ts'
import type { SeededRandom } from '../kernel/sim-random.ts'

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

/** The rows of one shard: the view of a statement whose snapshot is this old. */
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

export function hasRows(batch: ShardBatch): boolean {
  return Object.values(batch).some((rows) => Array.isArray(rows) && rows.length > 0)
}

/** Whether the batch only creates accounts and actors: once these are removed, no row shows them. */
export function onlyMakesNew(batch: ShardBatch): boolean {
  const isNew = ({ previousVersion }: { readonly previousVersion: number }): boolean => previousVersion === 0
  if (!batch.accounts.every(isNew) || !batch.actors.every(isNew)) return false
  return !hasRows({ ...batch, accounts: [], actors: [] })
}

/** A set-based query has no order. */
export function shuffled<T>(items: readonly T[], random: SeededRandom): readonly T[] {
  return items
    .map((item) => ({ item, order: random.bits() }))
    .sort((left, right) => left.order - right.order)
    .map(({ item }) => item)
}
