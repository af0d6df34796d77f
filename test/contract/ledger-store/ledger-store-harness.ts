/** The harness for the contract of a ledger store: stores for several sessions on one database, and faults. */
import type { NftEvent } from '../../../actors/nft-instance/state.ts'
import type { LedgerStore } from '../../../runtime/ports/ledger-store.ts'

export interface LedgerStoreHarness {
  /** The shard count of the shared ledger; at least 8. The ledger is empty and no shard has an owner. */
  readonly shardCount: number
  /** A store of a new session on the same database. */
  readonly open: () => Promise<SessionUnderTest>
  /** Advances time until the work is done, as a virtual clock requires. */
  readonly run: <T>(work: Promise<T>) => Promise<T>
  /** Advances time by this duration, and runs all events that fall due. */
  readonly passTime: (durationMs: number) => Promise<void>
  /** The value that has crossed the ledger's boundary so far, by token, over all sessions. */
  readonly boundaryTotals: () => Promise<ReadonlyMap<string, BoundaryTotal>>
  /** The stored events of an NFT (`class/instance`) in a shard, oldest first. */
  readonly nftEvents: (shardId: number, nftId: string) => Promise<readonly NftEvent[]>
  readonly close: () => Promise<void>
}

/** Decimal strings in their minimal form. */
export interface BoundaryTotal {
  readonly credited: string
  readonly debited: string
}

export interface SessionUnderTest {
  readonly store: LedgerStore
  readonly nodeId: string
  readonly session: string
  /** The next commit never arrives. */
  readonly loseNextCommit: () => void
  /** The next commit takes effect, and its answer is lost. */
  readonly loseNextAnswer: () => void
  /** From now on commits with transactions take their locks and then wait until `letGo`. */
  readonly holdCommits: () => Promise<HeldCommits>
  /** Closes the connections, commits in flight included; the server may not have noticed. The store may open others. */
  readonly cutOff: () => void
  /** Ends the process and its connections. */
  readonly crash: () => Promise<void>
}

export interface HeldCommits {
  /** Resolves once a commit is held: it has its locks. */
  readonly reached: () => Promise<void>
  readonly letGo: () => Promise<void>
}
