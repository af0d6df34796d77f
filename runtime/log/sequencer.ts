/**
 * Adds committed entries to the log. One sequencer at a time does the work; any number of them may run.
 *   Q1. A batch is added on top of the head that it was computed from. A sequencer whose head is outdated reads it again.
 *   Q2. It hands on a head only after the commit that stored it, and never one that does not continue the last one that
 *       it handed on: a database that went back, or that has another history, is reported and not signed. A process knows
 *       what it handed on itself; witnesses know the rest.
 *   Q3. A sequencer that fails gives its lease away: another one may succeed.
 */
import { type Clock, repeat } from '../ports/clock.ts'
import type { Log } from '../ports/log.ts'
import {
  type CommittedEntries,
  LOG_LEASE_MS,
  LogPaused,
  type LogStore,
  LogStoreUnavailable,
  type StoredLogHead,
} from '../ports/log-store.ts'
import { type ReadTile, TreeProofs } from './tree-proofs.ts'
import { grow, leafHash, rootOf } from './tree.ts'

/** A head of the log. */
export interface TreeHead {
  readonly size: number
  readonly root: Buffer
}

export interface SequencerDependencies {
  readonly store: Pick<LogStore, 'claim' | 'release' | 'head' | 'since' | 'append' | 'hashes'>
  /** Names this process in the lease. */
  readonly holder: string
  readonly clock: Clock
  readonly log: Log
  /** Takes the head of the log after each look at the commits: while nothing is added, the same one. */
  readonly onHead: (head: TreeHead) => void
}

export interface SequencerMeasures {
  readonly size: number
  /** The database has lost entries of the log, or has other ones (Q2). */
  readonly isRolledBack: boolean
  /** Milliseconds for which no commit could be read: a transaction in the database has not ended. */
  readonly stalledMs: number
}

/** Half of the two seconds within which an entry is in the log after its commit. */
const EVERY_MS = 1_000
/** A commit ends within 10 s. */
const STALLED_MS = 15_000

export class LogSequencer {
  private readonly dependencies: SequencerDependencies
  private head: StoredLogHead | undefined
  /** The last head that was handed on. */
  private last: TreeHead | undefined
  private isRolledBack = false
  private isStopped = false
  private pauseReason: string | undefined
  /** When no commit was held back, or one was added, by the monotonic clock; undefined without the lease. */
  private movedAtMs: number | undefined
  private isStalled = false
  /** Of the monotonic clock; 0 without a lease. */
  private leasedUntilMs = 0
  private timer: { readonly stop: () => void } | undefined
  private working: Promise<void> = Promise.resolve()

  constructor(dependencies: SequencerDependencies) {
    this.dependencies = dependencies
  }

  start(): void {
    this.timer = repeat(this.dependencies.clock, EVERY_MS, () => {
      this.working = this.attempt()
      return this.working
    })
  }

  /** Waits for the batch under way, and releases the lease. */
  async stop(): Promise<void> {
    this.isStopped = true
    this.timer?.stop()
    await this.working
    await this.giveLeaseAway()
  }

  measures(): SequencerMeasures {
    const { movedAtMs, last, isRolledBack } = this
    const idleMs = movedAtMs === undefined ? 0 : this.dependencies.clock.monotonic() - movedAtMs
    return { size: last?.size ?? 0, isRolledBack, stalledMs: idleMs > STALLED_MS ? idleMs : 0 }
  }

  private async attempt(): Promise<void> {
    try {
      if (!(await this.holdsLease())) {
        this.head = undefined
        this.movedAtMs = undefined
        this.pauseReason = undefined
        return
      }
      let hasMore = true
      while (hasMore && !this.isStopped) {
        hasMore = await this.addBatch()
        if (this.head !== undefined && this.last !== undefined) this.dependencies.onHead(this.last)
      }
      if (this.pauseReason !== undefined) this.dependencies.log.info('log_resumed')
      this.pauseReason = undefined
      this.reportStall()
    } catch (error) {
      // The effect of an append is unknown.
      this.head = undefined
      this.movedAtMs = undefined
      if (!(error instanceof LogStoreUnavailable)) throw error
      this.report(error)
      if (!(error instanceof LogPaused)) await this.giveLeaseAway()
    }
  }

  private reportStall(): void {
    const { log } = this.dependencies
    const { stalledMs } = this.measures()
    if (stalledMs > 0 && !this.isStalled)
      log.warn('log_stalled', { because: 'a transaction in PostgreSQL has not ended' })
    if (stalledMs === 0 && this.isStalled) log.info('log_resumed')
    this.isStalled = stalledMs > 0
  }

  /** Q3. */
  private async giveLeaseAway(): Promise<void> {
    const { store, holder } = this.dependencies
    if (this.leasedUntilMs === 0) return
    this.leasedUntilMs = 0
    await store.release(holder).catch(() => undefined)
  }

  /** Reports a failure once: the next attempts fail in the same way. */
  private report(error: LogStoreUnavailable): void {
    if (this.pauseReason === error.message) return
    this.pauseReason = error.message
    this.dependencies.log.warn(error instanceof LogPaused ? 'log_paused' : 'log_not_extended', {
      reason: error.message,
    })
  }

  /** Renews a lease of which less than two thirds are left. */
  private async holdsLease(): Promise<boolean> {
    const { store, clock, holder } = this.dependencies
    const askedAtMs = clock.monotonic()
    if (this.leasedUntilMs - askedAtMs > (2 / 3) * LOG_LEASE_MS) return true
    const isHeld = await store.claim(holder)
    this.leasedUntilMs = isHeld ? askedAtMs + LOG_LEASE_MS : 0
    return isHeld
  }

  /** Whether more entries may wait. */
  private async addBatch(): Promise<boolean> {
    const { store } = this.dependencies
    this.head ??= await this.loadHead()
    if (this.head === undefined) return false
    const found = await store.since(this.head.position)
    if (!found.isHeldBack || found.entries.length > 0) this.movedAtMs = undefined
    this.movedAtMs ??= this.dependencies.clock.monotonic()
    if (found.entries.length > 0) return (await this.append(this.head, found)) && found.hasMore && this.holdsLease()
    this.head = { ...this.head, position: found.position }
    return found.hasMore && this.holdsLease()
  }

  /** False: the head was outdated (Q1). */
  private async append(head: StoredLogHead, { entries, position }: CommittedEntries): Promise<boolean> {
    const { edge, tiles } = grow(head.edge, Buffer.concat(entries.map(leafHash)))
    const isStored = await this.dependencies.store.append(head, { entries, position, edge, tiles })
    this.head = isStored ? { edge, position } : undefined
    if (isStored) this.last = { size: edge.size, root: rootOf(edge) }
    return isStored
  }

  /** Undefined if the stored head does not continue the last one (Q2). */
  private async loadHead(): Promise<StoredLogHead | undefined> {
    const { store, log } = this.dependencies
    const head = await store.head()
    const found = { size: head.edge.size, root: rootOf(head.edge) }
    const continues = await this.continuesLast(found)
    if (!continues && !this.isRolledBack) {
      log.error('log_rolled_back', { known: this.last?.size ?? null, found: found.size })
    }
    this.isRolledBack = !continues
    if (!continues) return undefined
    this.last = found
    return head
  }

  private async continuesLast({ size, root }: TreeHead): Promise<boolean> {
    const { last } = this
    if (last === undefined) return true
    if (size < last.size) return false
    const read: ReadTile = async (level, number, width) => {
      const hashes = await this.dependencies.store.hashes(level, number, width)
      if (hashes === undefined) throw new LogStoreUnavailable('the log has no such tile')
      return hashes
    }
    const before = size === last.size ? root : await new TreeProofs(read, last.size).root()
    return before.equals(last.root)
  }
}
