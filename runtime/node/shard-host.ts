/**
 * The shards of one node: their mailboxes, their memory, and the one place where a broken invariant is caught.
 *   H1. An item enters the mailbox of the incarnation whose epoch it names, or is told `moved`.
 *   H2. Mailboxes are bounded: what does not fit is told `overloaded` and has not entered.
 *   H3. After an unknown outcome nothing is stepped until the store has fenced this node's own earlier commits (B1).
 *   H4. A broken invariant ends its shard here and nothing else; this node does not serve it again.
 */
import { refusal } from '../../actors/account/outcome.ts'
import { decodeItems, encodeVerdicts, type Item, type ItemVerdict, type Verdict } from '../messages.ts'
import { type Clock, delay } from '../ports/clock.ts'
import { keyAddressOf, type LedgerStore, type ShardToken } from '../ports/ledger-store.ts'
import type { Log } from '../ports/log.ts'
import type { Random } from '../ports/random.ts'
import type { Signer } from '../ports/signer.ts'
import { createAttemptMemory } from './attempt-memory.ts'
import { commandOf } from './command.ts'
import { CommitLane, type CommitLimits } from './commit-lane.ts'
import type { StepSettings } from './draft.ts'
import { createIncarnation, type Incarnation, nextStamp } from './incarnation.ts'
import { createLookUps, type LookUps } from './look-ups.ts'
import type { OutputGate } from './output-gate.ts'
import { keyAddressOfCommand, letGo, type Pending, type ReplyChannel, sendVerdicts, settle } from './pending.ts'
import type { PinBoard } from './pin-board.ts'

export interface ShardHostDependencies {
  readonly store: LedgerStore
  readonly signer: Signer
  readonly clock: Clock
  readonly random: Random
  readonly log: Log
  readonly pins: PinBoard
  readonly gate: OutputGate
  readonly settings: StepSettings & CommitLimits & MailboxLimits
  readonly onCommitted?: (commands: number, shards: number, durationMs: number) => void
}

/** Bounds in commands. */
export interface MailboxLimits {
  readonly maxShardMailbox: number
  readonly maxNodeMailbox: number
}

/** So many fit into the smallest message that a transport may be limited to. */
const MAX_VERDICTS_A_MESSAGE = 200
/** Before each try to recover from an unknown outcome, the first included: what made it unknown needs a moment too. */
const RECOVERY_RETRY_MS = 20
const BUSY_RETRY_MS = 5
const LONGEST_RETRY_MS = 1_000
const DRAIN_POLL_MS = 5

export class ShardHost {
  private readonly dependencies: ShardHostDependencies
  private readonly incarnations = new Map<number, Incarnation>()
  private readonly lane: CommitLane
  private readonly lookUps: LookUps
  private readonly attempts: ReturnType<typeof createAttemptMemory>
  private readonly broken = new Set<number>()

  constructor(dependencies: ShardHostDependencies) {
    this.dependencies = dependencies
    this.attempts = createAttemptMemory(dependencies.clock)
    this.lane = new CommitLane({
      ...dependencies,
      incarnations: () => this.incarnations.values(),
      onSkipped: (skipped) => void this.lookAtSkipped(skipped, BUSY_RETRY_MS),
      onUnknown: (unknown) => {
        for (const incarnation of unknown) void this.recover(incarnation)
      },
      onBroken: (incarnation, detail) => this.quarantine(incarnation, detail),
    })
    this.lookUps = createLookUps({ ...dependencies, onReady: () => this.lane.kick() })
  }

  /** Shards that this node serves, with the epoch it serves them in. */
  serving(): ReadonlyMap<number, ShardToken> {
    return new Map([...this.incarnations].map(([shardId, { token }]) => [shardId, token]))
  }

  /** Shards that broke an invariant here. */
  refused(): readonly number[] {
    return [...this.broken]
  }

  /** Commands waiting in all mailboxes. */
  backlog(): number {
    let sum = 0
    for (const { mailbox } of this.incarnations.values()) sum += mailbox.size
    return sum
  }

  /** Begins to serve a shard that was acquired. */
  serve(token: ShardToken, lastTransactionId: string | null): void {
    const before = this.incarnations.get(token.shardId)
    if (before !== undefined) this.end(before)
    this.incarnations.set(token.shardId, createIncarnation(token, lastTransactionId))
  }

  /** Gives a shard up at once: it is another's. What waits is told that its outcome is not known here. */
  drop(shardId: number): void {
    const incarnation = this.incarnations.get(shardId)
    if (incarnation !== undefined) this.end(incarnation)
  }

  /**
   * Takes nothing new and finishes what has entered. Returns the token to be released; undefined when the shard was
   * lost meanwhile, or did not become empty within `timeoutMs`.
   */
  async drain(shardId: number, timeoutMs: number): Promise<ShardToken | undefined> {
    const { clock } = this.dependencies
    const untilMs = clock.monotonic() + timeoutMs
    for (;;) {
      const incarnation = this.incarnations.get(shardId)
      if (incarnation === undefined) return undefined
      if (incarnation.phase === 'serving') incarnation.phase = 'draining'
      if (incarnation.phase === 'draining' && incarnation.mailbox.size === 0) return incarnation.token
      if (clock.monotonic() >= untilMs) {
        if (incarnation.phase === 'draining') incarnation.phase = 'serving'
        return undefined
      }
      await delay(clock, DRAIN_POLL_MS)
    }
  }

  /** One message from an edge. */
  receive(message: string, reply: (message: string) => void): void {
    const channel: ReplyChannel = {
      send: (verdicts) => {
        for (let start = 0; start < verdicts.length; start += MAX_VERDICTS_A_MESSAGE) {
          reply(encodeVerdicts(verdicts.slice(start, start + MAX_VERDICTS_A_MESSAGE)))
        }
      },
    }
    const turnedAway: ItemVerdict[] = []
    let backlog = this.backlog()
    for (const item of decodeItems(message)) {
      if (!this.attempts.isLatest(item.requestId, item.attempt)) continue
      const verdict = this.admit(item, channel, backlog)
      if (verdict === undefined) backlog += 1
      else turnedAway.push({ requestId: item.requestId, attempt: item.attempt, verdict })
    }
    if (turnedAway.length > 0) channel.send(turnedAway)
  }

  /** undefined: it entered the mailbox. */
  private admit(item: Item, channel: ReplyChannel, backlog: number): Verdict | undefined {
    const { clock, random, settings } = this.dependencies
    const incarnation = this.incarnations.get(item.shardId)
    if (incarnation === undefined || incarnation.token.epoch !== item.epoch || incarnation.phase === 'draining') {
      return { kind: 'moved', epoch: incarnation?.token.epoch ?? null }
    }
    if (incarnation.mailbox.size >= settings.maxShardMailbox || backlog >= settings.maxNodeMailbox) {
      return { kind: 'overloaded' }
    }
    const command = commandOf(item, nextStamp(incarnation, clock.now(), random), random)
    if (command === undefined) {
      return { kind: 'answered', answer: refusal('rejected', 'The request is not one that this ledger understands.') }
    }
    const keyUse = keyAddressOfCommand(command, item.shardId)
    const pending: Pending = {
      item,
      command,
      keyUse,
      keyAddress: keyUse === null ? null : keyAddressOf(keyUse),
      channel,
      incarnation,
      lookUp: null,
      resident: null,
      earlier: undefined,
      verdicts: new Map(),
      forced: null,
      perhapsApplied: false,
    }
    incarnation.mailbox.add(pending)
    this.lookUps.add(pending)
    return undefined
  }

  private end(incarnation: Incarnation): void {
    if (this.incarnations.get(incarnation.token.shardId) === incarnation) {
      this.incarnations.delete(incarnation.token.shardId)
    }
    incarnation.phase = 'ended'
    const waiting = [...incarnation.mailbox]
    for (const pending of waiting) settle(pending)
    sendVerdicts(waiting.map((pending) => [pending, { kind: 'undecided' }]))
  }

  private quarantine(incarnation: Incarnation, detail: string): void {
    const { shardId } = incarnation.token
    this.dependencies.log.error('shard_quarantined', { shard: shardId, detail })
    this.broken.add(shardId)
    this.end(incarnation)
  }

  /** Busy or another's? Only the store knows. */
  private async lookAtSkipped(skipped: readonly Incarnation[], waitMs: number): Promise<void> {
    const { store, clock, log } = this.dependencies
    await delay(clock, waitMs)
    try {
      const records = new Map((await store.shards()).map((record) => [record.shardId, record]))
      for (const incarnation of skipped) {
        if (incarnation.phase === 'ended') continue
        const { shardId, epoch, attempt } = incarnation.token
        const record = records.get(shardId)
        if (record?.epoch !== epoch || record.attempt !== attempt) {
          log.warn('shard_fenced', { shard: shardId, epoch, found: record?.epoch })
          this.end(incarnation)
        } else {
          incarnation.blocked = false
        }
      }
      this.lane.kick()
    } catch {
      void this.lookAtSkipped(skipped, Math.min(waitMs * 2, LONGEST_RETRY_MS))
    }
  }

  /** H3: fence our own past, forget everything speculative, and ask again for everything that waits. */
  private async recover(incarnation: Incarnation): Promise<void> {
    const { store, clock, log } = this.dependencies
    const { shardId, epoch, attempt } = incarnation.token
    for (
      let waitMs = RECOVERY_RETRY_MS;
      incarnation.phase !== 'ended';
      waitMs = Math.min(waitMs * 2, LONGEST_RETRY_MS)
    ) {
      await delay(clock, waitMs)
      try {
        const ours = await store.raiseAttempt(incarnation.token)
        if (ours) this.replace(incarnation, { shardId, epoch, attempt: attempt + 1 })
        else this.end(incarnation)
        return
      } catch (error) {
        log.warn('recovery_delayed', { shard: shardId, cause: error instanceof Error ? error.message : 'unknown' })
        this.giveUpLate(incarnation)
      }
    }
  }

  /** Nobody waits for these any more. */
  private giveUpLate({ mailbox }: Incarnation): void {
    const nowMs = this.dependencies.clock.now()
    const late = [...mailbox].filter(({ item }) => item.deadlineMs <= nowMs)
    for (const pending of late) settle(pending)
    sendVerdicts(late.map((pending) => [pending, { kind: 'undecided' }]))
  }

  private replace(old: Incarnation, token: ShardToken): void {
    if (old.phase === 'ended') return
    old.phase = 'ended'
    const next = createIncarnation(token, null)
    next.lastIdMs = old.lastIdMs
    next.lastIdCounter = old.lastIdCounter
    this.incarnations.set(token.shardId, next)
    for (const pending of old.mailbox) {
      letGo(pending)
      pending.earlier = undefined
      pending.incarnation = next
      next.mailbox.add(pending)
      this.lookUps.add(pending)
    }
    old.mailbox.clear()
  }
}
