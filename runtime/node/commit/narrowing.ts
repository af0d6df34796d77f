/**
 * Failed commits: nothing was applied, and the commands are stepped again.
 *   B2. A shard's commands stay in order through every retry: while halves wait, no new command is taken.
 *   B5. If the store refuses a commit for a cause outside its rows, its requests get `not_applied` and leave the
 *       mailbox; messages and timers wait. If no commit wrote rows since the batch was gathered, the store is at fault
 *       and all requests of the batch leave.
 */
import { delay } from '../../ports/clock.ts'
import type { FailedCause } from '../../ports/ledger-store.ts'
import { rejectRequests, requestFields } from '../shard/request-log.ts'
import type { Incarnation } from '../shard/incarnation.ts'
import type { NodeContext } from '../shard/node-context.ts'
import type { Pending } from '../shard/pending-command.ts'
import { type Contain, type Fault, mayHaveBeenApplied } from '../recovery/containment.ts'
import type { CommitHealth } from './commit-health.ts'
import type { ShardDraft } from '../shard/draft.ts'

export interface NarrowingDependencies extends Pick<NodeContext, 'clock' | 'log' | 'metrics' | 'rare'> {
  readonly health: Pick<CommitHealth, 'refused'>
  readonly contain: Contain
  /** Postponed commands may be stepped again. */
  readonly onReady: () => void
}

type NarrowedCause = Exclude<FailedCause, 'unsent'>

const TRANSIENT_RETRY_MS = 20
/** Consecutive transient failures before the batch is halved to find the cause. */
const WHOLE_RETRIES = 5
const POSTPONE_MS = 1_000
/** Pause between commits while the store refuses all: each refusal adds to the store's log, perhaps on a full disk. */
const REFUSED_PAUSE_MS = 200
/** How often a message or timer is postponed, while other commits write rows, before it is contained. */
const MAX_POSTPONEMENTS = 10

export class Narrowing {
  /** Groups to commit one by one, in order. */
  private groups: Pending[][] = []
  private transientFailures = 0
  /**
   * Number of commits that wrote rows: now, when the last batch was gathered, and when the store last refused all
   * commits.
   */
  private written = 0
  private writtenAtGather = 0
  private writtenAtRefusal: number | undefined
  /** Whether requests have left (B5) since the last pause. */
  private hasRejected = false
  private readonly dependencies: NarrowingDependencies

  constructor(dependencies: NarrowingDependencies) {
    this.dependencies = dependencies
  }

  next(): Pending[] | undefined {
    return this.groups.shift()
  }

  isEmpty(): boolean {
    return this.groups.length === 0
  }

  gathered(): void {
    this.writtenAtGather = this.written
  }

  answered(wroteRows: boolean): void {
    this.transientFailures = 0
    if (wroteRows) this.written += 1
  }

  /** The rows or receipts of these commands could not be made: a signing failure may be temporary. */
  separate(pendings: readonly Pending[], fault: Fault): void {
    const { stage, breaksInvariant } = fault
    this.narrow([pendings], stage === 'signing' && !breaksInvariant ? 'transient' : 'data', fault)
  }

  /** Puts commands at the head of the shard's queue, before those still in groups, to keep the order (B2). */
  putBack(incarnation: Incarnation, pendings: readonly Pending[]): void {
    incarnation.ready = [...pendings, ...this.takeOut(incarnation), ...incarnation.ready]
  }

  /**
   * Removes the shard's commands from the groups, in order. An empty group would end the commit loop, so none stays.
   */
  takeOut(incarnation: Incarnation): readonly Pending[] {
    const taken = this.groups.flatMap((group) => group.filter((pending) => pending.incarnation === incarnation))
    const left = this.groups.map((group) => group.filter((pending) => pending.incarnation !== incarnation))
    this.groups = left.filter((group) => group.length > 0)
    return taken
  }

  /**
   * Nothing was applied. Retries the whole batch if it was not sent, or a few times after a transient failure;
   * otherwise narrows it.
   */
  async failed(drafts: readonly ShardDraft[], cause: FailedCause, detail: string): Promise<void> {
    this.transientFailures = cause === 'transient' ? this.transientFailures + 1 : 0
    const whole = this.transientFailures < WHOLE_RETRIES && !this.dependencies.rare.takes('batch_halved_at_once')
    if (cause === 'unsent' || (cause === 'transient' && whole)) {
      this.groups.unshift(drafts.flatMap(({ pendings }) => pendings))
      await delay(this.dependencies.clock, TRANSIENT_RETRY_MS)
      return
    }
    const fault: Fault = { stage: 'commit', cause: detail, breaksInvariant: cause === 'invariant' }
    const parts = drafts.map(({ pendings }) => pendings)
    const isRefusedAgain = cause === 'transient' && this.writtenAtRefusal === this.written
    const left = isRefusedAgain ? parts.map((part) => this.reject(part)).filter((part) => part.length > 0) : parts
    if (isRefusedAgain) this.dependencies.health.refused()
    this.narrow(left, cause, fault)
    if (this.hasRejected) await delay(this.dependencies.clock, REFUSED_PAUSE_MS)
    this.hasRejected = false
  }

  /** B5. Returns the commands that stay: messages, timers, and requests that an earlier commit may have applied. */
  private reject(pendings: readonly Pending[]): Pending[] {
    const leaving = new Set(
      pendings.filter((pending) => pending.origin.kind === 'request' && !mayHaveBeenApplied(pending)),
    )
    if (leaving.size > 0) this.hasRejected = true
    const waiting = [...leaving].filter((pending) => pending.incarnation.mailbox.has(pending))
    rejectRequests(waiting, this.dependencies)
    return pendings.filter((pending) => !leaving.has(pending))
  }

  /** B5. One command failed alone, for a cause outside its rows. */
  private refuse(alone: Pending, fault: Fault): void {
    for (const pending of this.reject([alone])) this.postpone(pending, fault)
    if (this.written > this.writtenAtGather) return
    if (this.writtenAtRefusal !== this.written) {
      this.dependencies.log.warn('commits_refused', { cause: fault.cause })
    }
    this.writtenAtRefusal = this.written
    this.dependencies.health.refused()
    this.groups = this.groups.map((group) => this.reject(group)).filter((group) => group.length > 0)
  }

  /**
   * Halves the stepped commands, by shard and then by command, until one command remains. Handles that one according to
   * its fault.
   */
  private narrow(parts: readonly (readonly Pending[])[], cause: NarrowedCause, fault: Fault): void {
    const units = parts.length > 1 ? parts : (parts[0] ?? []).map((pending) => [pending])
    if (units.length > 1) {
      const middle = Math.ceil(units.length / 2)
      this.groups.unshift(units.slice(0, middle).flat(), units.slice(middle).flat())
      return
    }
    const alone = units[0]?.[0]
    if (alone === undefined) return
    if (cause === 'transient' && fault.stage === 'commit') this.refuse(alone, fault)
    else if (cause === 'transient') this.postpone(alone, fault)
    else if (this.dependencies.contain(alone, fault)) this.groups.unshift([alone])
  }

  /**
   * Postpones a command that fails alone, because the failure may be temporary. Its shard waits; other shards continue.
   * A postponement counts only if other commits wrote rows since the last one: otherwise the store may fail all
   * commits. Requests are given up when they are late.
   */
  private postpone(pending: Pending, fault: Fault): void {
    const { clock, log, contain, onReady } = this.dependencies
    const { incarnation, origin, postponed: last } = pending
    const times = last === null ? 0 : last.times + (last.written < this.written ? 1 : 0)
    if (last === null) {
      const { stage, cause } = fault
      const level = stage === 'signing' ? 'error' : 'warn'
      log[level]('command_postponed', { ...requestFields(pending), shard: incarnation.token.shardId, stage, cause })
    }
    pending.postponed = { times, written: this.written }
    if (times >= MAX_POSTPONEMENTS && origin.kind !== 'request') {
      contain(pending, fault)
      return
    }
    incarnation.blocks.add('postponed')
    this.putBack(incarnation, [pending])
    clock.after(POSTPONE_MS, () => {
      incarnation.blocks.delete('postponed')
      onReady()
    })
  }
}
