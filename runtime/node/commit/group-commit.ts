/**
 * The group commit of a node: one batch in flight, made of everything that gathered while the last one was.
 *   B1. What is known of a commit is what follows: applied, its answers leave; failed, its commands are stepped again,
 *       halved until one failing command remains; unknown, its shards stop until PostgreSQL has said (I3, I10).
 *   B2. Commands of a shard stay in order through every retry: while halves wait, nothing new is taken.
 *   B3. Receipts are signed between step and commit; those of a batch that was not applied are never shown.
 *   B5. If the store refuses a commit for a cause outside its rows, its requests get `not_applied` and leave the mailbox;
 *       messages and timers wait. If no commit wrote rows since the batch was gathered, the store is at fault and all
 *       requests of the batch leave.
 * B4 is in prepared-batch.ts: it defines which shards a batch leaves out.
 */
import type { AccountKey } from '../../../actors/account/state.ts'
import { delay } from '../../ports/clock.ts'
import type { CommitVerdict, FailedCause } from '../../ports/ledger-store.ts'
import { reasonOf } from '../../reason.ts'
import type { Verdict } from '../../messages.ts'
import type { CommitResult } from '../../ports/metrics.ts'
import type { NodeContext } from '../node-context.ts'
import type { CommitHealth } from './commit-health.ts'
import { type Contain, type Fault, faultOf, mayHaveBeenApplied } from '../recovery/containment.ts'
import { ShardDraft, type DraftStep, stepInto, type StepSurroundings } from './draft.ts'
import { followed, followedAll, followEach, leaveUndecided, turnAway } from '../followed.ts'
import type { Incarnation } from '../incarnation.ts'
import { isLate, type Pending, settle, suspend, verdictKey } from '../pending-command.ts'
import { prepareBatch } from './prepared-batch.ts'

export interface GroupCommitDependencies extends NodeContext {
  readonly health: Pick<CommitHealth, 'sent' | 'answered' | 'refused'>
  readonly settings: CommitLimits
  readonly surroundings: StepSurroundings
  /** The shards that the node serves, in any order. */
  readonly incarnations: () => Iterable<Incarnation>
  /** The fence rejected these: another transaction locks the shard, or another node owns it. */
  readonly onSkipped: (incarnations: readonly Incarnation[]) => void
  /** The commit outcome of these is unknown: none of their commands is stepped until they are replaced. */
  readonly onUnknown: (incarnations: readonly Incarnation[]) => void
  readonly contain: Contain
  /** `pending`: the command that caused the fault, if known. */
  readonly onBroken: (incarnation: Incarnation, fault: Fault, pending?: Pending) => void
  /** The parts of these shards are durable: updates memory, and sends replies and messages. */
  readonly onApplied: (applied: readonly ShardDraft[]) => void
  /** Called before each commit with its drafts. */
  readonly onDrafted?: (drafts: readonly ShardDraft[]) => void
  readonly onCommitted?: (commands: number, shards: number, durationMs: number) => void
}

export interface CommitLimits {
  /** Commands in one batch. */
  readonly maxBatchSize: number
  /** Bytes of rows in one batch, approximate. */
  readonly maxBatchBytes: number
}

type NarrowedCause = Exclude<FailedCause, 'unsent'>

const TRANSIENT_RETRY_MS = 20
/** Transient failures in a row before the batch is halved to find what they hang on. */
const WHOLE_RETRIES = 5
const POSTPONE_MS = 1_000
/** Pause between commits while the store refuses all: each refusal adds to the store's log, perhaps on a full disk. */
const REFUSED_PAUSE_MS = 200
/** How often a message or timer is postponed, while other commits write rows, before it is contained. */
const MAX_POSTPONEMENTS = 10
/** Messages that one batch may send: a command of a large group sends many, and its rows are not known before its step. */
const MAX_BATCH_MESSAGES = 4_000
/** However small a batch has become, it holds so many commands. */
const SMALLEST_BATCH = 8
const SMALLEST_SHARE = 1 / 256

export class GroupCommit {
  /** Commands taken out of their queues, to be committed apart from each other; the first group is next. */
  private groups: Pending[][] = []
  private running = false
  private turn = 0
  /** Of batches that were stepped; lines that follow a request name theirs. */
  private batch = 0
  private transientFailures = 0
  /** Failed commits in a row. */
  private failures = 0
  /** Number of commits that wrote rows: now, when the last batch was gathered, and when the store last refused all commits. */
  private written = 0
  private writtenAtGather = 0
  private writtenAtRefusal: number | undefined
  /** Whether requests have left (B5) since the lane last paused. */
  private hasTurnedAway = false
  /** The share of its bounds that a batch may use: what was too much to be answered in time comes in smaller parts. */
  private allowance = 1
  private readonly dependencies: GroupCommitDependencies

  constructor(dependencies: GroupCommitDependencies) {
    this.dependencies = dependencies
  }

  /** Something is ready. */
  kick(): void {
    if (this.running) return
    this.running = true
    void this.run()
  }

  private async run(): Promise<void> {
    for (;;) {
      const group = this.groups.shift() ?? this.gather()
      if (group.length === 0 && this.groups.length === 0) {
        // In the same turn as the look that found nothing: a kick in between must not be lost.
        this.running = false
        return
      }
      try {
        await this.commitGroup(group)
      } catch (error) {
        // Faults of one shard are contained at their source. An error that gets here may affect any shard of the group.
        for (const incarnation of new Set(group.map((pending) => pending.incarnation))) {
          this.dependencies.onBroken(incarnation, faultOf('commit', error))
        }
      }
    }
  }

  private async commitGroup(group: readonly Pending[]): Promise<void> {
    const { clock, signer, store, surroundings, health, onDrafted } = this.dependencies
    const drafted = this.draft(group)
    if (drafted.length === 0) return
    onDrafted?.(drafted)
    const startedMs = clock.monotonic()
    const { drafts, shards, failed } = await prepareBatch(drafted, signer, surroundings.settings.ledgerId)
    if (drafts.length > 0) {
      health.sent()
      const verdict = await store
        .commit({ shards })
        .catch((error: unknown): CommitVerdict => ({ kind: 'unknown', detail: reasonOf(error) }))
      const committed = verdict.kind === 'answered' ? verdict.committed : new Set<number>()
      health.answered(drafts.some((draft) => committed.has(draft.incarnation.token.shardId) && writesRows(draft)))
      await this.conclude(drafts, verdict, startedMs)
    }
    for (const { draft, fault } of failed) this.narrow([draft.pendings], causeOf(fault), fault)
  }

  /** Takes what is ready, as evenly over the shards as the bounds demand. */
  private gather(): Pending[] {
    const { settings, rare } = this.dependencies
    this.writtenAtGather = this.written
    const maxBatchSize = rare.takes('batch_of_one')
      ? 1
      : Math.max(Math.min(SMALLEST_BATCH, settings.maxBatchSize), settings.maxBatchSize * this.allowance)
    const maxBatchBytes = settings.maxBatchBytes * this.allowance
    const ready = [...this.dependencies.incarnations()].filter(
      ({ phase, blocked, ready }) => ready.length > 0 && !blocked && (phase === 'serving' || phase === 'draining'),
    )
    // Another shard comes first each time, so that no bound always ends with the same ones.
    this.turn += 1
    const first = ready.length === 0 ? 0 : this.turn % ready.length
    const open = [...ready.slice(first), ...ready.slice(0, first)]
    const waiting = open.reduce((sum, { ready }) => sum + ready.length, 0)
    const share = waiting <= maxBatchSize ? waiting : Math.max(1, Math.floor(maxBatchSize / open.length))
    const group: Pending[] = []
    let bytes = 0
    for (const incarnation of open) {
      let taken = 0
      for (const pending of incarnation.ready) {
        if (taken === share || group.length >= maxBatchSize || bytes >= maxBatchBytes) break
        taken += 1
        bytes += sizeOf(pending)
        group.push(pending)
      }
      incarnation.ready.splice(0, taken)
    }
    return group
  }

  /**
   * Steps a group. A command whose signature must be checked again, or that is for the next batch, stays behind with all
   * that follow it in its shard; so does everything once the batch sends as many messages, or holds as much text, as it may.
   */
  private draft(group: readonly Pending[]): ShardDraft[] {
    const { clock, log, gate, rare, contain, onBroken } = this.dependencies
    this.batch += 1
    const drafts = new Map<Incarnation, ShardDraft>()
    const halted = new Map<Incarnation, Pending[]>()
    const nowMs = clock.now()
    const maxMessages = rare.takes('batch_full_of_messages') ? 1 : MAX_BATCH_MESSAGES * this.allowance
    const maxTextBytes = this.dependencies.settings.maxBatchBytes * this.allowance
    let messages = 0
    let textBytes = 0
    for (const pending of group) {
      const { incarnation } = pending
      if (incarnation.phase === 'suspended' || !incarnation.mailbox.has(pending)) continue
      if ((messages >= maxMessages || textBytes >= maxTextBytes) && !halted.has(incarnation))
        halted.set(incarnation, [])
      const behind = halted.get(incarnation)
      if (behind !== undefined) {
        behind.push(pending)
        continue
      }
      // Checked last, here and not by a timer: a paused process runs what it had queued when it wakes.
      if (pending.forced === null && isLate(pending, nowMs)) {
        leaveUndecided([pending], 'late', this.dependencies)
        continue
      }
      const shard = drafts.get(incarnation) ?? new ShardDraft(incarnation)
      const { textBytes: textBefore, outbox } = shard
      const before = outbox.length
      const step = this.step(shard, pending)
      if (step.kind === 'taken') {
        messages += outbox.length - before
        textBytes += shard.textBytes - textBefore
        drafts.set(incarnation, shard)
        if (step.answer !== null) gate.decided([pending, { kind: 'answered', answer: step.answer }])
        if (log.debug !== undefined) followEach(log, 'submission_stepped', [pending], { batch: this.batch })
      } else if (step.kind === 'unverified') {
        halted.set(incarnation, [pending])
        void this.checkAgain(pending, step.key, step.signature)
      } else if (step.kind === 'early') {
        halted.set(incarnation, [pending])
      } else if (step.kind === 'untold') {
        leaveUndecided([pending], 'cannot_be_told', this.dependencies)
      } else if (step.kind === 'repeated') {
        settle(pending)
      } else if (step.kind === 'failed') {
        // The draft may contain part of the failed command. The commands before it are stepped again.
        drafts.delete(incarnation)
        const others = shard.pendings.filter((other) => other !== pending)
        halted.set(incarnation, contain(pending, step.fault) ? [...others, pending] : others)
      } else {
        drafts.delete(incarnation)
        onBroken(incarnation, { stage: 'step', cause: step.detail, breaksInvariant: true }, pending)
      }
    }
    for (const [incarnation, behind] of halted) this.putBack(incarnation, behind)
    return [...drafts.values()]
  }

  private step(shard: ShardDraft, pending: Pending): DraftStep | { readonly kind: 'failed'; readonly fault: Fault } {
    try {
      return stepInto(shard, pending, this.dependencies.surroundings)
    } catch (error) {
      return { kind: 'failed', fault: faultOf('step', error) }
    }
  }

  private async checkAgain(pending: Pending, key: AccountKey, signature: string): Promise<void> {
    const { signer, contain } = this.dependencies
    const { incarnation, command } = pending
    incarnation.blocked = true
    const payload = 'payload' in command ? command.payload : ''
    try {
      const [verdict] = await signer.verifyMany([{ publicKey: key.publicKey, payload, signature }])
      pending.verdicts.set(verdictKey(key.keyId, signature), verdict === true)
    } catch (error) {
      contain(pending, faultOf('verification', error))
    }
    incarnation.blocked = false
    this.kick()
  }

  private async conclude(drafts: readonly ShardDraft[], verdict: CommitVerdict, startedMs: number): Promise<void> {
    const { clock, log, metrics, onApplied, onCommitted, onUnknown } = this.dependencies
    const durationMs = clock.monotonic() - startedMs
    metrics?.commit(resultOf(drafts, verdict), durationMs)
    switch (verdict.kind) {
      case 'answered': {
        this.transientFailures = 0
        this.failures = 0
        this.allowance = Math.min(1, this.allowance * 2)
        const committed = drafts.filter(({ incarnation }) => verdict.committed.has(incarnation.token.shardId))
        for (const { pendings } of committed) {
          followEach(log, 'submission_committed', pendings, { batch: this.batch })
        }
        if (committed.some(writesRows)) this.written += 1
        if (committed.length > 0) onApplied(committed)
        const commands = committed.reduce((sum, { pendings }) => sum + pendings.length, 0)
        if (committed.length > 0) metrics?.batch(commands, committed.length)
        onCommitted?.(commands, committed.length, durationMs)
        this.skip(drafts.filter((shard) => !committed.includes(shard)))
        return
      }
      case 'failed':
        this.failures += 1
        if (this.failures === 1) {
          log.warn('commit_failed', { cause: verdict.cause, detail: verdict.detail, shards: drafts.length })
        }
        await this.tryAgain(drafts, verdict.cause, verdict.detail)
        return
      case 'unknown': {
        log.warn('commit_unknown', {
          detail: verdict.detail,
          shards: drafts.length,
          batch: this.batch,
          ...followedAll(drafts.flatMap(({ pendings }) => pendings)),
        })
        this.allowance = Math.max(this.allowance / 2, SMALLEST_SHARE)
        // An incarnation that has ended meanwhile has replied to its callers, and needs no recovery.
        const left = drafts.filter(({ incarnation }) => incarnation.phase !== 'ended')
        for (const { incarnation, pendings, answers } of left) {
          suspend(incarnation)
          for (const pending of pendings) pending.perhapsApplied = true
          // Stepped again it may be accepted, with an ID from before those that this commit may have made durable (N1):
          // who was refused asks anew.
          const refused = answers.filter(([, decided]) => isRefusal(decided)).map(([pending]) => pending)
          leaveUndecided(refused, 'commit_unknown', this.dependencies)
          // What waits in groups is still in the mailbox: it comes again through a look-up, and must not come twice.
          this.takeFromGroups(incarnation)
        }
        onUnknown(left.map(({ incarnation }) => incarnation))
      }
    }
  }

  /** The fence did not let these pass: their commands wait in place until it is known why. */
  private skip(drafts: readonly ShardDraft[]): void {
    if (drafts.length === 0) return
    for (const { incarnation, pendings } of drafts) {
      incarnation.blocked = true
      this.putBack(incarnation, pendings)
    }
    this.dependencies.onSkipped(drafts.map(({ incarnation }) => incarnation))
  }

  /** Back to the head of the shard's queue, before what still waits in groups, so that order is kept (B2). */
  private putBack(incarnation: Incarnation, pendings: readonly Pending[]): void {
    incarnation.ready = [...pendings, ...this.takeFromGroups(incarnation), ...incarnation.ready]
  }

  /** In order. No group stays empty: the lane would take it for the end of what is ready. */
  private takeFromGroups(incarnation: Incarnation): readonly Pending[] {
    const taken = this.groups.flatMap((group) => group.filter((pending) => pending.incarnation === incarnation))
    const left = this.groups.map((group) => group.filter((pending) => pending.incarnation !== incarnation))
    this.groups = left.filter((group) => group.length > 0)
    return taken
  }

  /**
   * Nothing was applied. Retries the whole batch if it was not sent, or a few times after a transient failure; otherwise
   * narrows it.
   */
  private async tryAgain(drafts: readonly ShardDraft[], cause: FailedCause, detail: string): Promise<void> {
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
    const left = isRefusedAgain ? parts.map((part) => this.turnAway(part)).filter((part) => part.length > 0) : parts
    if (isRefusedAgain) this.dependencies.health.refused()
    this.narrow(left, cause, fault)
    if (this.hasTurnedAway) await delay(this.dependencies.clock, REFUSED_PAUSE_MS)
    this.hasTurnedAway = false
  }

  /** B5. Returns the commands that stay: messages, timers, and requests that an earlier commit may have applied. */
  private turnAway(pendings: readonly Pending[]): Pending[] {
    const leaving = new Set(
      pendings.filter((pending) => pending.origin.kind === 'request' && !mayHaveBeenApplied(pending)),
    )
    if (leaving.size > 0) this.hasTurnedAway = true
    const waiting = [...leaving].filter((pending) => pending.incarnation.mailbox.has(pending))
    turnAway(waiting, this.dependencies)
    return pendings.filter((pending) => !leaving.has(pending))
  }

  /** B5. One command failed alone, for a cause outside its rows. */
  private refuse(alone: Pending, fault: Fault): void {
    for (const pending of this.turnAway([alone])) this.postpone(pending, fault)
    if (this.written > this.writtenAtGather) return
    if (this.writtenAtRefusal !== this.written) {
      this.dependencies.log.warn('store_refuses_commits', { cause: fault.cause })
    }
    this.writtenAtRefusal = this.written
    this.dependencies.health.refused()
    this.groups = this.groups.map((group) => this.turnAway(group)).filter((group) => group.length > 0)
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
   * Postpones a command that fails alone, because the failure may be temporary. Its shard waits; other shards continue. A
   * postponement counts only if other commits wrote rows since the last one: otherwise the store may fail all commits.
   * Requests are given up when they are late.
   */
  private postpone(pending: Pending, fault: Fault): void {
    const { clock, log, contain } = this.dependencies
    const { incarnation, origin, postponed: last } = pending
    const times = last === null ? 0 : last.times + (last.written < this.written ? 1 : 0)
    if (last === null) {
      const { stage, cause } = fault
      const level = stage === 'signing' ? 'error' : 'warn'
      log[level]('command_set_aside', { ...followed(pending), shard: incarnation.token.shardId, stage, cause })
    }
    pending.postponed = { times, written: this.written }
    if (times >= MAX_POSTPONEMENTS && origin.kind !== 'request') {
      contain(pending, fault)
      return
    }
    incarnation.blocked = true
    this.putBack(incarnation, [pending])
    clock.after(POSTPONE_MS, () => {
      incarnation.blocked = false
      this.kick()
    })
  }
}

const ROW_BYTES = 1_500

/** A signing failure may be temporary; a failure to make rows is permanent. */
function causeOf({ stage, breaksInvariant }: Fault): NarrowedCause {
  return stage === 'signing' && !breaksInvariant ? 'transient' : 'data'
}

function resultOf(drafts: readonly ShardDraft[], verdict: CommitVerdict): CommitResult {
  if (verdict.kind !== 'answered') return verdict.kind
  const passed = drafts.every(({ incarnation }) => verdict.committed.has(incarnation.token.shardId))
  return passed ? 'applied' : 'held_back'
}

function isRefusal(verdict: Verdict): boolean {
  return verdict.kind === 'answered' && verdict.answer.kind === 'refused'
}

/** A draft of refusals and replays alone writes no row: its commit only checks the fence and succeeds on a full disk. */
function writesRows({ changed, marks }: ShardDraft): boolean {
  return changed.size > 0 || marks.size > 0
}

/** Bytes of a command's rows, approximate: they contain the payload twice, beside fields of bounded size. */
function sizeOf({ command }: Pending): number {
  return ROW_BYTES + ('payload' in command ? 2 * command.payload.length : 0)
}
