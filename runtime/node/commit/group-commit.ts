/**
 * The group commit of a node: one batch in flight, made of all commands that gathered during the previous one.
 *   B1. The commit outcome decides what follows. Applied: the replies are sent. Failed: the commands are stepped again,
 *       in halves, until one failing command remains. Unknown: the shards stop until PostgreSQL reports the outcome
 *       (I3, I10).
 *   B3. Receipts are signed between step and commit; receipts of a batch that was not applied are never shown.
 * B2 and B5 are in narrowing.ts, for failed commits; B4 is in prepared-batch.ts.
 */
import type { AccountKey } from '../../../actors/account/state.ts'
import type { CommitVerdict, FailedCause } from '../../ports/ledger-store.ts'
import { reasonOf } from '../../common/reason.ts'
import { SignerUnavailable } from '../../ports/signer.ts'
import type { Verdict } from '../../protocol/messages.ts'
import type { CommitResult } from '../../ports/metrics.ts'
import type { NodeContext } from '../shard/node-context.ts'
import type { CommitHealth } from './commit-health.ts'
import { type Contain, type Fault, faultOf } from '../recovery/containment.ts'
import { ShardDraft, type DraftStep, stepInto, type StepSurroundings } from '../shard/draft.ts'
import { requestsFields, logEachRequest, leaveUndecided } from '../shard/request-log.ts'
import type { Incarnation } from '../shard/incarnation.ts'
import { isLate, type Pending, settle, suspend, verdictKey } from '../shard/pending-command.ts'
import { Narrowing } from './narrowing.ts'
import { prepareBatch } from './prepared-batch.ts'

export interface GroupCommitDependencies extends NodeContext {
  readonly health: Pick<CommitHealth, 'sent' | 'answered' | 'refused'>
  readonly settings: CommitLimits
  readonly surroundings: StepSurroundings
  readonly incarnations: () => Iterable<Incarnation>
  /** The fence rejected these: another transaction locks the shard, or another node owns it. */
  readonly onSkipped: (incarnations: readonly Incarnation[]) => void
  /** The commit outcome of these is unknown: none of their commands is stepped until they are replaced. */
  readonly onUnknown: (incarnations: readonly Incarnation[]) => void
  readonly contain: Contain
  /** `pending`: the command that caused the fault, if known. */
  readonly onBroken: (incarnation: Incarnation, fault: Fault, pending?: Pending) => void
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

/**
 * Limit on messages of one batch: one command of a large group sends many, and its rows are known only after its step.
 */
const MAX_BATCH_MESSAGES = 4_000
/** Least number of commands that a reduced batch may hold. */
const SMALLEST_BATCH = 8
const SMALLEST_SHARE = 1 / 256

export class GroupCommit {
  private running = false
  private turn = 0
  /** Number of the stepped batch, for log lines of single requests. */
  private batch = 0
  /** Consecutive failed commits. */
  private failures = 0
  /**
   * The share of its limits that a batch may use: halved after an unknown outcome, since the batch may have been too
   * large.
   */
  private allowance = 1
  private readonly dependencies: GroupCommitDependencies
  private readonly narrowing: Narrowing

  constructor(dependencies: GroupCommitDependencies) {
    this.dependencies = dependencies
    this.narrowing = new Narrowing({ ...dependencies, onReady: () => this.kick() })
  }

  /** Commands are ready. */
  kick(): void {
    if (this.running) return
    this.running = true
    void this.run()
  }

  private async run(): Promise<void> {
    for (;;) {
      const group = this.narrowing.next() ?? this.gather()
      if (group.length === 0 && this.narrowing.isEmpty()) {
        // In the same turn as the empty result: a kick in between must not be lost.
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
    health.sent()
    const prepared = await prepareBatch(drafted, signer, surroundings.settings.ledgerId).catch(unlessUnsigned)
    if (prepared instanceof SignerUnavailable) {
      health.answered(false)
      return this.failed(drafted, 'transient', prepared.message)
    }
    const { drafts, shards, failed } = prepared
    if (drafts.length === 0) health.answered(false)
    else {
      const verdict = await store
        .commit({ shards })
        .catch((error: unknown): CommitVerdict => ({ kind: 'unknown', detail: reasonOf(error) }))
      const committed = verdict.kind === 'answered' ? verdict.committed : new Set<number>()
      health.answered(drafts.some((draft) => committed.has(draft.incarnation.token.shardId) && writesRows(draft)))
      await this.conclude(drafts, verdict, startedMs)
    }
    for (const { draft, fault } of failed) this.narrowing.separate(draft.pendings, fault)
  }

  /** Takes ready commands, as evenly over the shards as the limits demand. */
  private gather(): Pending[] {
    const { settings, rare } = this.dependencies
    this.narrowing.gathered()
    const maxBatchSize = rare.takes('batch_of_one')
      ? 1
      : Math.max(Math.min(SMALLEST_BATCH, settings.maxBatchSize), settings.maxBatchSize * this.allowance)
    const maxBatchBytes = settings.maxBatchBytes * this.allowance
    const ready = [...this.dependencies.incarnations()].filter(
      ({ phase, blocks, ready }) =>
        ready.length > 0 && blocks.size === 0 && (phase === 'serving' || phase === 'draining'),
    )
    // The first shard rotates, so that a limit does not always cut off the same shards.
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
   * Steps a group. A command that awaits a signature check or the next batch holds back its shard's later commands. A
   * batch at its limit of messages or text holds back all remaining commands.
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
      // Checked last, and not by a timer: a process that was paused steps its queue on waking.
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
        if (log.debug !== undefined) logEachRequest(log, 'submission_stepped', [pending], { batch: this.batch })
      } else if (step.kind === 'unverified') {
        halted.set(incarnation, [pending])
        void this.checkAgain(pending, step.key, step.signature)
      } else if (step.kind === 'deferred_to_next_batch') {
        halted.set(incarnation, [pending])
      } else if (step.kind === 'undeterminable') {
        leaveUndecided([pending], 'undeterminable', this.dependencies)
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
    for (const [incarnation, behind] of halted) this.narrowing.putBack(incarnation, behind)
    return [...drafts.values()]
  }

  private step(shard: ShardDraft, pending: Pending): DraftStep | { readonly kind: 'failed'; readonly fault: Fault } {
    const { surroundings } = this.dependencies
    const { span } = pending
    try {
      if (span !== undefined) return span.around(() => stepInto(shard, pending, surroundings))
      return stepInto(shard, pending, surroundings)
    } catch (error) {
      return { kind: 'failed', fault: faultOf('step', error) }
    }
  }

  private async checkAgain(pending: Pending, key: AccountKey, signature: string): Promise<void> {
    const { signer, contain } = this.dependencies
    const { incarnation, command } = pending
    incarnation.blocks.add('signature')
    const payload = 'payload' in command ? command.payload : ''
    try {
      const [verdict] = await signer.verifyMany([{ publicKey: key.publicKey, payload, signature }])
      pending.verdicts.set(verdictKey(key.keyId, signature), verdict === true)
    } catch (error) {
      contain(pending, faultOf('verification', error))
    }
    incarnation.blocks.delete('signature')
    this.kick()
  }

  private async conclude(drafts: readonly ShardDraft[], verdict: CommitVerdict, startedMs: number): Promise<void> {
    const { clock, log, metrics, spans, onApplied, onCommitted, onUnknown } = this.dependencies
    const durationMs = clock.monotonic() - startedMs
    metrics?.commit(resultOf(drafts, verdict), durationMs)
    spans?.committed(drafts, verdict, startedMs)
    switch (verdict.kind) {
      case 'answered': {
        this.failures = 0
        this.allowance = Math.min(1, this.allowance * 2)
        const committed = drafts.filter(({ incarnation }) => verdict.committed.has(incarnation.token.shardId))
        for (const { pendings } of committed) {
          logEachRequest(log, 'submission_committed', pendings, { batch: this.batch })
        }
        this.narrowing.answered(committed.some(writesRows))
        if (committed.length > 0) onApplied(committed)
        const commands = committed.reduce((sum, { pendings }) => sum + pendings.length, 0)
        if (committed.length > 0) metrics?.batch(commands, committed.length)
        onCommitted?.(commands, committed.length, durationMs)
        this.skip(drafts.filter((shard) => !committed.includes(shard)))
        return
      }
      case 'failed':
        return this.failed(drafts, verdict.cause, verdict.detail)
      case 'unknown': {
        log.warn('commit_unknown', {
          detail: verdict.detail,
          shards: drafts.length,
          batch: this.batch,
          ...requestsFields(drafts.flatMap(({ pendings }) => pendings)),
        })
        this.allowance = Math.max(this.allowance / 2, SMALLEST_SHARE)
        // An incarnation that has ended meanwhile has replied to its callers, and needs no recovery.
        const left = drafts.filter(({ incarnation }) => incarnation.phase !== 'ended')
        for (const { incarnation, pendings, answers } of left) {
          suspend(incarnation)
          for (const pending of pendings) pending.perhapsApplied = true
          // Stepped again, the command may be accepted with an ID older than durable ones (N1): a refused client must
          // retry.
          const refused = answers.filter(([, decided]) => isRefusal(decided)).map(([pending]) => pending)
          leaveUndecided(refused, 'commit_unknown', this.dependencies)
          // Commands in groups are still in the mailbox: the recovered shard looks them up again, and they must not
          // come twice.
          this.narrowing.takeOut(incarnation)
        }
        onUnknown(left.map(({ incarnation }) => incarnation))
      }
    }
  }

  private async failed(drafts: readonly ShardDraft[], cause: FailedCause, detail: string): Promise<void> {
    this.failures += 1
    if (this.failures === 1) this.dependencies.log.warn('commit_failed', { cause, detail, shards: drafts.length })
    await this.narrowing.failed(drafts, cause, detail)
  }

  /** The fence rejected these shards: their commands wait until the cause is known. */
  private skip(drafts: readonly ShardDraft[]): void {
    if (drafts.length === 0) return
    for (const { incarnation, pendings } of drafts) {
      incarnation.blocks.add('fence')
      this.narrowing.putBack(incarnation, pendings)
    }
    this.dependencies.onSkipped(drafts.map(({ incarnation }) => incarnation))
  }
}

const ROW_BYTES = 1_500

function resultOf(drafts: readonly ShardDraft[], verdict: CommitVerdict): CommitResult {
  if (verdict.kind !== 'answered') return verdict.kind
  const passed = drafts.every(({ incarnation }) => verdict.committed.has(incarnation.token.shardId))
  return passed ? 'applied' : 'held_back'
}

/** B6. */
function unlessUnsigned(error: unknown): SignerUnavailable {
  if (error instanceof SignerUnavailable) return error
  throw error
}

function isRefusal(verdict: Verdict): boolean {
  return verdict.kind === 'answered' && verdict.answer.kind === 'refused'
}

/**
 * A draft of refusals and replays alone writes no row: its commit only checks the fence and succeeds on a full disk.
 */
function writesRows({ changed, marks }: ShardDraft): boolean {
  return changed.size > 0 || marks.size > 0
}

/** Approximate bytes of a command's rows: they contain the payload twice, and members of bounded size. */
function sizeOf({ command }: Pending): number {
  return ROW_BYTES + ('payload' in command ? 2 * command.payload.length : 0)
}
