/** The number of shards of each node, as the interface shows it. */
import type { LedgerClient } from '../support/client/client.ts'

export type ShardOwners = ReadonlyMap<string, number>

const SETTLED_LOOKS = 4
const LOOK_EVERY_MS = 500

/** A shard without an owner counts under ''. */
export async function shardOwners(client: LedgerClient): Promise<ShardOwners> {
  const owners = new Map<string, number>()
  for (const { owner } of await client.readAll('/v1/shards', 'shards')) {
    const name = typeof owner === 'string' ? owner : ''
    owners.set(name, (owners.get(name) ?? 0) + 1)
  }
  return owners
}

export interface Settled {
  /** When this state was first seen, by `performance.now()`. */
  readonly atMs: number
  readonly owners: ShardOwners
}

/** Waits until `holds` and no shard moves any more. Throws after `limitMs`. */
export async function untilSettled(
  client: LedgerClient,
  what: string,
  limitMs: number,
  holds: (owners: ShardOwners) => boolean,
): Promise<Settled> {
  const deadlineMs = performance.now() + limitMs
  let since = { atMs: 0, looks: 0, seen: '' }
  for (;;) {
    const atMs = performance.now()
    const owners = await shardOwners(client)
    const seen = [...owners]
      .map(([node, count]) => `${node}: ${count}`)
      .sort()
      .join(', ')
    if (!holds(owners)) since = { atMs: 0, looks: 0, seen: '' }
    else if (seen === since.seen) since = { ...since, looks: since.looks + 1 }
    else since = { atMs, looks: 1, seen }
    if (since.looks === SETTLED_LOOKS) return { atMs: since.atMs, owners }
    if (atMs > deadlineMs) throw new Error(`after ${limitMs} ms still not: ${what}; shards by node: ${seen}`)
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS))
  }
}
