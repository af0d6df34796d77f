/**
 * The log of the ledger (C2SP): a Merkle tree over every entry of every chain, kept beside the entries.
 * Contract: test/contract/log-store/log-store.contract.ts
 *   G1. `append` adds a batch in one commit, and only on top of the head that it was computed from. Of two sequencers one
 *       therefore fails, however long the other was paused.
 *   G2. `since` has each entry that was committed from a position on, once, and only of commits below which no other can
 *       follow. A commit is whole or absent.
 *   G3. `publish` replaces a published head only by one of as many entries, with newer signatures, or of more.
 *   G4. Tiles that an append completed never change. Others only become wider.
 *   G5. One holder at a time has the lease, by the store's clock. It spares others the work; G1 holds without it.
 *   G6. A database that an administrator has not accepted, or that went back, is neither read nor written: `LogPaused`.
 * Every failure is a `LogStoreUnavailable`; after a failed write its effect is unknown.
 */
export const LOG_LEASE_MS = 3_000

export interface LogStore {
  /** Takes or prolongs the lease for `LOG_LEASE_MS`. False: another holder has it. */
  readonly claim: (holder: string) => Promise<boolean>
  /** Ends the holder's lease. */
  readonly release: (holder: string) => Promise<void>
  readonly head: () => Promise<StoredLogHead>
  /**
   * In the order of the log, which tells nothing. At most some ten thousand, or one commit. Without entries the position
   * may be another one: up to there the log lacks nothing.
   */
  readonly since: (position: LogPosition) => Promise<CommittedEntries>
  /** False: the head is not this one any more, and nothing was stored (G1). */
  readonly append: (head: StoredLogHead, batch: LogBatch) => Promise<boolean>
  /** Undefined before the first. */
  readonly published: () => Promise<PublishedLogHead | undefined>
  /** False: a larger head is published (G3). */
  readonly publish: (head: PublishedLogHead) => Promise<boolean>
  /** The first `width` hashes of a tile; undefined if the tree does not have them. */
  readonly hashes: (level: number, number: number, width: number) => Promise<Buffer | undefined>
  /** The first `width` entries of tile `number`, one after the other; undefined if the tree does not have them. */
  readonly entries: (number: number, width: number) => Promise<Buffer | undefined>
}

/** Hashes of the incomplete tile of each level, one after the other, from level 0 on. */
export interface TreeEdge {
  /** Number of leaves. */
  readonly size: number
  readonly levels: readonly Buffer[]
}

/** A tile, complete or as far as it goes. */
export interface Tile {
  readonly level: number
  readonly number: number
  readonly hashes: Buffer
}

/** All commits before it are in the log. Opaque. */
export type LogPosition = string

export interface StoredLogHead {
  readonly edge: TreeEdge
  readonly position: LogPosition
}

export interface CommittedEntries {
  readonly entries: readonly Buffer[]
  /** Where the next read begins. */
  readonly position: LogPosition
  /** Whether a read from there would have found more. */
  readonly hasMore: boolean
  /** Whether there are later commits, behind a transaction that has not ended (G2). */
  readonly isHeldBack: boolean
}

export interface LogBatch {
  /** In the order of the log. */
  readonly entries: readonly Buffer[]
  readonly position: LogPosition
  readonly edge: TreeEdge
  /** Every tile that the batch changed. */
  readonly tiles: readonly Tile[]
}

export interface PublishedLogHead {
  readonly size: number
  /** A signed note with the signatures of the log and of its witnesses. */
  readonly note: string
}

export class LogStoreUnavailable extends Error {
  override readonly name: string = 'LogStoreUnavailable'
}

/** The log may not be extended on this database now; the message gives the reason. */
export class LogPaused extends LogStoreUnavailable {
  override readonly name = 'LogPaused'
}
