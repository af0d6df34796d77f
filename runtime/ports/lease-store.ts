/**
 * Liveness of nodes, and hints about shard owners; safety is the token in LedgerStore (I1). All data here may be lost,
 * emptied or rewound without harm to money.
 * Contract: test/contract/lease-store.contract.ts
 *   L1. A renewal succeeds only on top of the revision that its caller wrote last.
 *   L2. `list` never fails silently: it is complete as of some moment, or it throws.
 *   L3. Every failure is a `LeaseStoreUnavailable`.
 */
export interface LeaseStore {
  /** Writes a node's session key; `seen` 0 creates it. `conflict`: another writer changed the key. */
  readonly renew: (session: SessionRecord, seen: Revision) => Promise<Revision | 'conflict'>
  /** Every session key with its revision. */
  readonly list: () => Promise<readonly ListedSession[]>
  /** Deletes the session of a node that has stopped. */
  readonly end: (nodeId: string) => Promise<void>
  /** Announces a shard's owner after PostgreSQL decided it. Best effort. */
  readonly hint: (hint: ShardHint) => Promise<void>
  /** Calls back with hints as they arrive; some may be missing. */
  readonly watchHints: (onHint: (hint: ShardHint) => void) => Watch
}

export type Revision = number

/** One per node, under the node's ID. */
export interface SessionRecord {
  readonly nodeId: string
  /** 32 hexadecimal digits, new with every start of the process. */
  readonly session: string
  /** Whether its last probe of PostgreSQL committed and it may get shards. */
  readonly ready: boolean
  readonly draining: boolean
  /** Shards it cannot serve. */
  readonly refusedShards: readonly number[]
}

export interface ListedSession extends SessionRecord {
  readonly revision: Revision
}

export interface ShardHint {
  readonly shardId: number
  readonly nodeId: string | null
  readonly session: string | null
  readonly epoch: number
}

export interface Watch {
  readonly stop: () => void
}

export class LeaseStoreUnavailable extends Error {
  override readonly name = 'LeaseStoreUnavailable'
}
