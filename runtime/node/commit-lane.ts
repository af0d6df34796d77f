/**
 * The group commit of a node: one batch in flight, made of everything that gathered while the last one was.
 *   B1. What is known of a commit is what follows: applied, its answers leave; failed, its commands are stepped again,
 *       halved until the guilty one stands alone; unknown, its shards stop until PostgreSQL has said (I3, I10).
 *   B2. Commands of a shard stay in order through every retry: while halves wait, nothing new is taken.
 *   B3. Receipts are signed between step and commit; those of a batch that was not applied are never shown.
 */
import { refusal } from '../../actors/account/outcome.ts'
import type { AccountKey } from '../../actors/account/state.ts'
import { type Clock, delay } from '../ports/clock.ts'
import type { CommitVerdict, FailedCause, LedgerStore, ReceiptWrite } from '../ports/ledger-store.ts'
import type { Verdict } from '../messages.ts'
import type { Log } from '../ports/log.ts'
import { type CommitResult, NO_NODE_METRICS, type NodeMetrics } from '../ports/metrics.ts'
import type { RarePaths } from '../ports/rare-paths.ts'
import type { Signer } from '../ports/signer.ts'
import { createShardDraft, type ShardDraft, stepInto, type StepSurroundings } from './draft.ts'
import { followed, followedAll, followEach, leaveUndecided } from './followed.ts'
import type { Incarnation } from './incarnation.ts'
import type { OutputGate } from './output-gate.ts'
import { isLate, type Pending, settle, verdictKey } from './pending.ts'
import { signReceipts } from './receipts.ts'
import { processedIn, rowsOf } from './rows.ts'

export interface CommitLaneDependencies {
  readonly store: Pick<LedgerStore, 'commit'>
  readonly signer: Signer
  readonly clock: Clock
  readonly log: Log
  readonly metrics?: NodeMetrics
  readonly gate: OutputGate
  readonly rare: RarePaths
  readonly settings: CommitLimits
  readonly surroundings: StepSurroundings
  /** The shards that the node serves, in any order. */
  readonly incarnations: () => Iterable<Incarnation>
  /** The fence did not let these pass: busy, or another's. */
  readonly onSkipped: (incarnations: readonly Incarnation[]) => void
  /** What was committed of these is not known; nothing of them is stepped until they are replaced. */
  readonly onUnknown: (incarnations: readonly Incarnation[]) => void
  /** `guilty`: what it was broken on. */
  readonly onBroken: (incarnation: Incarnation, detail: string, guilty: Pending) => void
  /** These shards' parts are durable: memory follows, answers and messages leave. */
  readonly onApplied: (applied: readonly ShardDraft[]) => void
  /** What is about to be committed, with the commands that made it. */
  readonly onDrafted?: (drafts: readonly ShardDraft[]) => void
  readonly onCommitted?: (commands: number, shards: number, durationMs: number) => void
}

export interface CommitLimits {
  /** Commands in one batch, and about how many bytes of rows. */
  readonly maxBatchSize: number
  readonly maxBatchBytes: number
}

const TRANSIENT_RETRY_MS = 20
/** Transient failures in a row before the batch is halved to find what they hang on. */
const WHOLE_RETRIES = 5
const PUT_ASIDE_MS = 1_000
/** Messages that one batch may send: a command of a large group sends many, and its rows are not known before its step. */
const MAX_BATCH_MESSAGES = 4_000
/** However small a batch has become, it holds so many commands. */
const SMALLEST_BATCH = 8
const SMALLEST_SHARE = 1 / 256
const ROW_BYTES = 1_500

export class CommitLane {
  /** Commands taken out of their queues, to be committed apart from each other; the first group is next. */
  private groups: Pending[][] = []
  private running = false
  private turn = 0
  /** Of batches that were stepped; lines that follow a request name theirs. */
  private batch = 0
  private transientFailures = 0
  /** The share of its bounds that a batch may use: what was too much to be answered in time comes in smaller parts. */
  private allowance = 1
  private readonly dependencies: CommitLaneDependencies

  constructor(dependencies: CommitLaneDependencies) {
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
      const drafts = this.draft(group)
      if (drafts.length === 0) continue
      this.dependencies.onDrafted?.(drafts)
      const startedMs = this.dependencies.clock.monotonic()
      const verdict = await this.commit(drafts)
      await this.conclude(drafts, verdict, startedMs)
    }
  }

  /** Takes what is ready, as evenly over the shards as the bounds demand. */
  private gather(): Pending[] {
    const { settings, rare } = this.dependencies
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
    const { clock, log, surroundings, gate, rare, onBroken } = this.dependencies
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
      if (incarnation.phase === 'ended' || incarnation.phase === 'suspended') continue
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
      const shard = drafts.get(incarnation) ?? createShardDraft(incarnation)
      const { textBytes: textBefore, outbox } = shard
      const before = outbox.length
      const step = stepInto(shard, pending, surroundings)
      if (step.kind === 'taken') {
        messages += outbox.length - before
        textBytes += shard.textBytes - textBefore
        drafts.set(incarnation, shard)
        if (step.answer !== null) gate.decided([pending, { kind: 'answered', answer: step.answer }])
        if (log.debug !== undefined) followEach(log, 'submission_stepped', [pending], { batch: this.batch })
      } else if (step.kind === 'unverified') {
        halted.set(incarnation, [pending])
        this.checkAgain(pending, step.key, step.signature)
      } else if (step.kind === 'early') {
        halted.set(incarnation, [pending])
      } else if (step.kind === 'untold') {
        leaveUndecided([pending], 'cannot_be_told', this.dependencies)
      } else if (step.kind === 'repeated') {
        settle(pending)
      } else {
        drafts.delete(incarnation)
        onBroken(incarnation, step.detail, pending)
      }
    }
    for (const [incarnation, behind] of halted) this.putBack(incarnation, behind)
    return [...drafts.values()]
  }

  private checkAgain(pending: Pending, key: AccountKey, signature: string): void {
    const { incarnation, command } = pending
    incarnation.blocked = true
    const payload = 'payload' in command ? command.payload : ''
    void this.dependencies.signer.verifyMany([{ publicKey: key.publicKey, payload, signature }]).then(([verdict]) => {
      pending.verdicts.set(verdictKey(key.keyId, signature), verdict === true)
      incarnation.blocked = false
      this.kick()
    })
  }

  /** Signs the receipts and commits. Never rejects. */
  private async commit(drafts: readonly ShardDraft[]): Promise<CommitVerdict> {
    const { signer, store, surroundings } = this.dependencies
    const processed = drafts.flatMap(processedIn)
    let receipts: readonly ReceiptWrite[] = []
    try {
      receipts = await signReceipts(signer, processed, surroundings.settings.ledgerId)
    } catch {
      return { kind: 'failed', cause: 'unsent', detail: 'Receipts could not be signed.' }
    }
    let next = 0
    const nextReceipt = (): ReceiptWrite => {
      const receipt = receipts[next] ?? { keyId: '', signature: '' }
      next += 1
      return receipt
    }
    return await store.commit({ shards: drafts.map((shard) => rowsOf(shard, nextReceipt)) })
  }

  private async conclude(drafts: readonly ShardDraft[], verdict: CommitVerdict, startedMs: number): Promise<void> {
    const { clock, log, metrics = NO_NODE_METRICS, onApplied, onCommitted, onUnknown } = this.dependencies
    const durationMs = clock.monotonic() - startedMs
    metrics.commit(resultOf(drafts, verdict), durationMs)
    switch (verdict.kind) {
      case 'answered': {
        this.transientFailures = 0
        this.allowance = Math.min(1, this.allowance * 2)
        const committed = drafts.filter(({ incarnation }) => verdict.committed.has(incarnation.token.shardId))
        for (const { pendings } of committed) {
          followEach(log, 'submission_committed', pendings, { batch: this.batch })
        }
        if (committed.length > 0) onApplied(committed)
        const commands = committed.reduce((sum, { pendings }) => sum + pendings.length, 0)
        if (committed.length > 0) metrics.batch(commands, committed.length)
        onCommitted?.(commands, committed.length, durationMs)
        this.skip(drafts.filter((shard) => !committed.includes(shard)))
        return
      }
      case 'failed':
        log.warn('commit_failed', { cause: verdict.cause, detail: verdict.detail, shards: drafts.length })
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
        // What has ended meanwhile has told those who waited, and is not to be recovered.
        const left = drafts.filter(({ incarnation }) => incarnation.phase !== 'ended')
        for (const { incarnation, pendings, answers } of left) {
          incarnation.phase = 'suspended'
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

  /** Nothing was applied. What no row is to blame for comes whole, a few times; the rest, and what goes on so, halved. */
  private async tryAgain(drafts: readonly ShardDraft[], cause: FailedCause, detail: string): Promise<void> {
    this.transientFailures = cause === 'transient' ? this.transientFailures + 1 : 0
    const whole = this.transientFailures < WHOLE_RETRIES && !this.dependencies.rare.takes('batch_halved_at_once')
    if (cause === 'unsent' || (cause === 'transient' && whole)) {
      this.groups.unshift(drafts.flatMap(({ pendings }) => pendings))
      await delay(this.dependencies.clock, TRANSIENT_RETRY_MS)
      return
    }
    const units: readonly (readonly Pending[])[] =
      drafts.length > 1
        ? drafts.map(({ pendings }) => pendings)
        : (drafts[0]?.pendings ?? []).map((pending) => [pending])
    if (units.length > 1) {
      const middle = Math.ceil(units.length / 2)
      this.groups.unshift(units.slice(0, middle).flat(), units.slice(middle).flat())
      return
    }
    const { incarnation } = drafts[0] ?? {}
    const alone = units[0]?.[0]
    if (incarnation === undefined || alone === undefined) return
    if (cause === 'transient') this.putAside(incarnation, alone)
    else this.blame(incarnation, alone, cause, detail)
  }

  /** Fails again and again and nobody knows why: it and its shard wait, the others go on. */
  private putAside(incarnation: Incarnation, pending: Pending): void {
    incarnation.blocked = true
    this.putBack(incarnation, [pending])
    this.dependencies.clock.after(PUT_ASIDE_MS, () => {
      incarnation.blocked = false
      this.kick()
    })
  }

  private blame(incarnation: Incarnation, guilty: Pending, cause: 'data' | 'invariant', detail: string): void {
    // A message cannot be refused: every one can be consumed, or its shard stops.
    if (cause === 'invariant' || guilty.forced !== null || guilty.origin.kind !== 'request') {
      this.dependencies.onBroken(incarnation, detail, guilty)
      return
    }
    this.dependencies.log.error('command_refused', {
      ...followed(guilty),
      shard: incarnation.token.shardId,
      detail,
    })
    guilty.forced = refusal('rejected', 'The ledger cannot store this request.')
    this.groups.unshift([guilty])
  }
}

function resultOf(drafts: readonly ShardDraft[], verdict: CommitVerdict): CommitResult {
  if (verdict.kind !== 'answered') return verdict.kind
  const passed = drafts.every(({ incarnation }) => verdict.committed.has(incarnation.token.shardId))
  return passed ? 'applied' : 'held_back'
}

function isRefusal(verdict: Verdict): boolean {
  return verdict.kind === 'answered' && verdict.answer.kind === 'refused'
}

/** About what a command's rows take, bytes: what was signed stands in them twice, beside fields of bounded size. */
function sizeOf({ command }: Pending): number {
  return ROW_BYTES + ('payload' in command ? 2 * command.payload.length : 0)
}
