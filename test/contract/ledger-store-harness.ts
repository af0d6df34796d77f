/** What a ledger store's contract needs of whoever runs it: stores for several sessions on one database, and faults. */
import type { NftEvent } from '../../actors/nft-instance/state.ts'
import type { LedgerStore } from '../../runtime/ports/ledger-store.ts'

export interface LedgerStoreHarness {
  /** Of the ledger that the stores share; at least 8. Nothing is in it and nobody owns a shard. */
  readonly shardCount: number
  /** A store of a new session on the same database. */
  readonly open: () => Promise<SessionUnderTest>
  /** Lets time pass until the work is done: a virtual clock has to be driven. */
  readonly run: <T>(work: Promise<T>) => Promise<T>
  /** Lets this much time pass, and whatever falls due in it happen. */
  readonly passTime: (durationMs: number) => Promise<void>
  /** What crossed the ledger's boundary so far, by token, over all sessions. */
  readonly boundaryTotals: () => Promise<ReadonlyMap<string, BoundaryTotal>>
  /** What is written of an NFT (`class/instance`) in a shard, oldest first. */
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
  /** The next commit takes effect, and nobody hears of it. */
  readonly loseNextAnswer: () => void
  /** From now on commits with transactions take their locks and go no further, until they are let go. */
  readonly holdCommits: () => Promise<HeldCommits>
  /** The connections are gone, commits in flight included; the server may not have noticed. The store may open others. */
  readonly cutOff: () => void
  /** The process is gone, and its connections with it. */
  readonly crash: () => Promise<void>
}

export interface HeldCommits {
  /** Resolves once a commit is held: it has its locks. */
  readonly reached: () => Promise<void>
  readonly letGo: () => Promise<void>
}
