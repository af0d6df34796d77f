/**
 * Steps commands as a shard's owner does, on top of nothing, with the owner's own code: what a draft holds is what its
 * commits would have written. Every actor of a draft is new in it, and over with it.
 */
import { type ActorAddress, actorKey } from '../../../actors/address.ts'
import type { Caller } from '../../../actors/account/commands.ts'
import type { Answer } from '../../../actors/account/outcome.ts'
import type { AccountState } from '../../../actors/account/state.ts'
import { type AnyCommand, type AnyState, type StepActor, stepActor } from '../../../actors/step-actor.ts'
import type { Item, Operation } from '../../../runtime/messages.ts'
import { commandOf, type GivenStamp } from '../../../runtime/node/command.ts'
import {
  accountIn,
  createShardDraft,
  inboxOrder,
  type ShardDraft,
  stepInto,
  type StepSurroundings,
} from '../../../runtime/node/draft.ts'
import { createFacts, type Facts } from '../../../runtime/node/facts.ts'
import { createIncarnation, type Incarnation, nextStamp } from '../../../runtime/node/incarnation.ts'
import { createPending, type Origin, verdictKey } from '../../../runtime/node/pending.ts'
import type { Random } from '../../../runtime/ports/random.ts'
import { NO_RARE_PATHS } from '../../../runtime/ports/rare-paths.ts'
import { WIRE } from '../../../runtime/wire.ts'

export interface DraftingOptions {
  readonly ledgerId: string
  readonly homeOf: (actor: ActorAddress) => number
  /** What is known beside what is stepped here. */
  readonly facts: Partial<Facts>
  readonly random: Random
  readonly clientId: string
}

/** Nobody waits. */
const SILENT = { send: () => undefined }

export class Drafting {
  private readonly options: DraftingOptions
  private readonly surroundings: StepSurroundings
  private readonly caller: Caller
  private readonly incarnations = new Map<number, Incarnation>()
  private readonly drafts = new Map<number, ShardDraft>()
  /** How many messages of each draft have been delivered. */
  private readonly delivered = new Map<ShardDraft, number>()

  constructor(options: DraftingOptions) {
    const { ledgerId, homeOf, facts } = options
    this.options = options
    this.caller = { clientId: options.clientId, role: 'transactor', boundary: true }
    this.surroundings = {
      settings: { ledgerId, production: false },
      step: stepActor,
      wire: WIRE,
      facts: { ...createFacts(NO_RARE_PATHS), ...facts },
      inbox: inboxOrder,
      homeOf,
      erasable: () => true,
    }
  }

  get clientId(): string {
    return this.options.clientId
  }

  /** What has been drafted since it was taken last. What shards have said to each other is counted on from there. */
  take(): readonly ShardDraft[] {
    const taken = [...this.drafts.values()]
    for (const { incarnation, sent, marks } of taken) {
      for (const [target, number] of sent) incarnation.sent.set(target, number)
      for (const [source, number] of marks) incarnation.marks.set(source, number)
    }
    this.drafts.clear()
    this.delivered.clear()
    return taken
  }

  private draftOf(shardId: number): ShardDraft {
    const known = this.drafts.get(shardId)
    if (known !== undefined) return known
    const draft = createShardDraft(this.incarnationOf(shardId))
    this.drafts.set(shardId, draft)
    return draft
  }

  private incarnationOf(shardId: number): Incarnation {
    const known = this.incarnations.get(shardId)
    if (known !== undefined) return known
    const start = { lastTransactionId: null, channels: [], marks: [], outbox: [] }
    const incarnation = createIncarnation({ shardId, epoch: 0, attempt: 0 }, start)
    this.incarnations.set(shardId, incarnation)
    return incarnation
  }

  /** As the draft leaves it. */
  state(actor: ActorAddress): AnyState | null {
    return this.draftOf(this.homeOf(actor)).changed.get(actorKey(actor))?.state ?? null
  }

  account(accountId: string): AccountState | undefined {
    return accountIn(this.draftOf(this.homeOf({ kind: 'account', id: accountId })), accountId)
  }

  homeOf(actor: ActorAddress): number {
    return this.options.homeOf(actor)
  }

  /** The next time and ID of the actor's shard, at or after `atMs`. */
  stampAt(actor: ActorAddress, atMs: number): GivenStamp {
    return nextStamp(this.incarnationOf(this.homeOf(actor)), atMs, this.options.random)
  }

  /**
   * What a client asks of an actor; null where the answer comes with a later message. `signer`: the key that the operation
   * is signed by, which is not checked again. Throws when it is refused.
   */
  request(actor: ActorAddress, operation: Operation, stamp: GivenStamp, signer?: string): Answer | null {
    const shardId = this.homeOf(actor)
    const item: Item = {
      requestId: stamp.ulid,
      attempt: 1,
      shardId,
      epoch: 0,
      actor,
      caller: this.caller,
      deadlineMs: Number.MAX_SAFE_INTEGER,
      operation,
    }
    const command = commandOf(item, stamp, this.options.random, false)
    if (command === undefined) throw new Error(`the ledger does not understand ${operation.kind} of ${actor.id}`)
    const verdict =
      signer === undefined || !('signature' in operation) ? null : verdictKey(signer, `${operation.signature}`)
    return this.step({ kind: 'request', item, channel: SILENT }, actor, command, stepActor, verdict)
  }

  /** What another actor would have said to this one, as if by itself: what follows from it elsewhere is left out. */
  hearAlone(actor: ActorAddress, message: object, stamp: GivenStamp): void {
    this.step({ kind: 'due' }, actor, this.messageCommand(actor, message, stamp), stepSilently, null)
  }

  /** Delivers messages, and those that follow from them, until there are none. `atMs`: not before. */
  settle(atMs: number): void {
    for (let isQuiet = false; !isQuiet;) {
      isQuiet = true
      for (const draft of this.drafts.values()) {
        const { shardId: source } = draft.incarnation.token
        // Those that follow may be of the same shard.
        const undelivered = draft.outbox.slice(this.delivered.get(draft))
        this.delivered.set(draft, draft.outbox.length)
        for (const { number, envelope } of undelivered) {
          isQuiet = false
          const { to, message } = envelope
          const command = this.messageCommand(to, message, this.stampAt(to, atMs))
          this.step({ kind: 'message', source, number }, to, command, stepActor, null)
        }
      }
    }
  }

  private messageCommand(to: ActorAddress, message: object, { atMs, ulid }: GivenStamp): AnyCommand {
    const stamp = { atMs, salt: this.options.random.hex(16), newTxnId: `txn_${ulid}` }
    const named = to.kind === 'account' ? { accountId: to.id, shardId: this.homeOf(to) } : {}
    return { ...message, ...stamp, ...named } as AnyCommand
  }

  private step(
    origin: Origin,
    actor: ActorAddress,
    command: AnyCommand,
    step: StepActor,
    verdict: string | null,
  ): Answer | null {
    const draft = this.draftOf(this.homeOf(actor))
    const pending = createPending(origin, actor, command, draft.incarnation)
    pending.resident = { state: null, pins: 0, waiting: 1, used: true }
    if (verdict !== null) pending.verdicts.set(verdict, true)
    const stepped = stepInto(draft, pending, { ...this.surroundings, step })
    if (stepped.kind !== 'taken') throw new Error(`${command.type} of ${actorKey(actor)} is ${JSON.stringify(stepped)}`)
    if (stepped.answer?.kind === 'refused') {
      throw new Error(`${command.type} of ${actorKey(actor)} is refused: ${stepped.answer.code}`)
    }
    return stepped.answer
  }
}

const stepSilently: StepActor = (actor, state, command, evidence) => {
  const stepped = stepActor(actor, state, command, evidence)
  if (stepped.kind !== 'stepped') return stepped
  return { ...stepped, effects: stepped.effects.filter(({ kind }) => kind !== 'message_sent') }
}
