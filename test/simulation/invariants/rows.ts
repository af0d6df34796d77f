/**
 * A single-threaded ledger beside the cluster that commits every command separately. It receives the commands of each batch
 * when the batch takes effect, steps them on states from its own rows, and must reach the written rows.
 *   W1. A batch writes exactly the rows that its commands order, each stepped on the rows of the previous one. The states
 *       read back equal the stepped states.
 *   W2. The answer of a step agrees with the rows. Only a refusal may lack facts of other shards, and it writes no rows.
 *   W3. A step does not change its inputs: its states are decoded for it, and sealed.
 *   W4. Every single command conserves value (I4), and changes only existing rows.
 *   W5. Replayed from nothing, without rows in between, an actor's commands lead to its final state.
 */
import type { Answer, Effect } from '../../../actors/account/outcome.ts'
import type { ActorAddress } from '../../../actors/address.ts'
import type { ActorAnswer } from '../../../actors/define-actor.ts'
import type { AnyCommand, AnyState, StepActor, StepOutcome } from '../../../actors/step-actor.ts'
import type { ShardBatch, ShardToken } from '../../../runtime/ports/ledger-store.ts'
import { actorKey, keyAddressOf } from '../../support/reference-encoding.ts'
import { batchOf } from './rows-batch.ts'
import { differenceOf, isEqual } from './rows-equal.ts'
import { evidenceFor, type EvidenceSettings, type RowEvidence } from './rows-evidence.ts'
import { commandOf, OrderBook, type OrderedCommand } from './rows-orders.ts'
import { sealed } from '../cluster/sealed.ts'
import { WrittenRows } from './rows-written.ts'
import type { Demand } from './messages.ts'
import type { AppliedCommit } from '../store/applied.ts'
import type { SimDatabase } from '../store/database.ts'
import { Rows } from '../store/rows.ts'

export interface RowReplaySettings extends EvidenceSettings {
  /** The nodes' own step: a broken rule of the actors is not to be found here. */
  readonly step: StepActor
}

interface PastCommand {
  readonly command: AnyCommand
  readonly evidence: RowEvidence
}

interface Life {
  readonly shardId: number
  readonly actor: ActorAddress
  readonly past: PastCommand[]
}

/** One shard's part of a commit during its replay. */
interface Part {
  readonly token: ShardToken
  readonly ordered: WrittenRows
  readonly concluded: Map<string, Answer>
  readonly after: Map<string, { readonly actor: ActorAddress; readonly state: AnyState | null }>
}

/** One actor in so many is stepped again from nothing, others with each seed: all would cost a twentieth of a run. */
const LIVES_PER_LOOK = 8

export class RowReplay {
  readonly orders = new OrderBook()
  private readonly serial = new Rows()
  /** A copy of a commit may arrive again; if the fence lets it pass, it must be empty. */
  private readonly replayed = new WeakSet<ShardBatch>()
  private readonly lives = new Map<string, Life>()
  /** The last number sent, by source and target. */
  private readonly sent = new Map<string, number>()
  private readonly database: SimDatabase
  private readonly demand: Demand
  private readonly settings: RowReplaySettings

  constructor(database: SimDatabase, demand: Demand, settings: RowReplaySettings) {
    this.database = database
    this.demand = demand
    this.settings = settings
    database.onApplied((applied) => this.commit(applied))
  }

  /** W5. */
  atEnd(): void {
    const turn = this.database.kernel.seed % LIVES_PER_LOOK
    for (const [key, life] of [...this.lives].filter((_, index) => index % LIVES_PER_LOOK === turn))
      this.relive(key, life)
  }

  private relive(key: string, { shardId, actor, past }: Life): void {
    let state: AnyState | null = null
    for (const { command, evidence } of past) {
      const outcome = this.settings.step(actor, state, command, evidence)
      if (outcome.kind === 'stepped') ({ state } = outcome)
    }
    this.same(`W5: ${key}: from nothing`, state, stateIn(this.database.rows, shardId, actor))
  }

  private commit({ nodeId, shards }: AppliedCommit): void {
    for (const { batch } of shards) this.shard(batch, nodeId)
  }

  private shard(batch: ShardBatch, nodeId: string): void {
    const { token } = batch
    const order = this.orders.of(batch)
    if (order === undefined) {
      this.demand(false, `W1: ${nodeId} wrote shard ${token.shardId}, and no command was drafted`)
      return
    }
    if (this.replayed.has(batch)) {
      const again = new WrittenRows()
      again.note(batch)
      const twice = new WrittenRows().differences(again)
      this.demand(
        twice.length === 0,
        `W1: ${nodeId}, shard ${token.shardId}: a second time: ${twice.slice(0, 5).join('; ')}`,
      )
      return
    }
    this.replayed.add(batch)
    const part: Part = { token, ordered: new WrittenRows(), concluded: new Map(), after: new Map() }
    for (const ordered of order.commands) this.command(part, ordered)
    const written = new WrittenRows()
    written.note(batch)
    const wrong = part.ordered.differences(written)
    this.demand(wrong.length === 0, `W1: ${nodeId}, shard ${token.shardId}: ${wrong.slice(0, 5).join('; ')}`)
    for (const [key, { actor, state }] of part.after) {
      this.same(`W1: ${key}: read back`, state, stateIn(this.database.rows, token.shardId, actor))
    }
    this.same(`W2: ${nodeId}, shard ${token.shardId}: concluded`, part.concluded, order.concluded)
  }

  private command(part: Part, ordered: OrderedCommand): void {
    const { token } = part
    const { actor, isForced } = ordered
    if (isForced) return
    const command = commandOf(ordered)
    const before = sealed(stateIn(this.serial, token.shardId, actor) ?? null)
    const evidence = evidenceFor(this.serial, token.shardId, actor, command, this.settings)
    const outcome = this.stepped(actor, before, command, evidence)
    if (mayHaveKnownLess(ordered, evidence)) return
    this.said(actor, command, ordered, outcome)
    const effects = outcome?.kind === 'stepped' ? outcome.effects : []
    const state = outcome?.kind === 'stepped' ? outcome.state : before
    const batch = batchOf(token, { actor, command, before, state, effects }, (to) => this.nextNumber(token, to))
    if (ordered.mark !== null) batch.marks.push(ordered.mark)
    this.conclusions(part, actor, effects)
    this.apply(part, batch, `${command.type} at ${actorKey(actor)}`)
    if (state === before) return
    part.after.set(actorKey(actor), { actor, state })
    this.remember(token.shardId, actor, { command, evidence })
  }

  /** undefined if it cannot be stepped. */
  private stepped(
    actor: ActorAddress,
    before: AnyState | null,
    command: AnyCommand,
    evidence: RowEvidence,
  ): StepOutcome | undefined {
    try {
      return this.settings.step(actor, before, command, evidence)
    } catch (error) {
      const isBroken = error instanceof Error && ['BrokenInvariant', 'TypeError'].includes(error.name)
      const detail = error instanceof Error ? error.message : String(error)
      this.demand(!isBroken, `W3: ${command.type} at ${actorKey(actor)}: ${detail}`)
      return undefined
    }
  }

  /** W2: a command that could not be stepped was refused; a later answer is concluded. */
  private said(actor: ActorAddress, command: AnyCommand, ordered: OrderedCommand, outcome: StepOutcome | undefined) {
    const what = `W2: ${command.type} at ${actorKey(actor)}`
    const { answer } = ordered
    this.demand(outcome?.kind !== 'unverified', `${what}: its signature cannot have been checked`)
    this.demand(outcome?.kind !== 'stale_look_up', `${what}: its key's use cannot have been looked up`)
    if (answer === 'unclear' || outcome?.kind === 'unverified' || outcome?.kind === 'stale_look_up') return
    if (outcome !== undefined) this.same(what, inRows(outcome.answer), inRows(answer))
    else this.demand(answer?.kind === 'refused', `${what}: cannot be stepped, and was not refused`)
  }

  private nextNumber({ shardId }: ShardToken, to: ActorAddress): { readonly target: number; readonly number: number } {
    const target = this.settings.homeOf(to)
    const number = (this.sent.get(`${shardId} ${target}`) ?? 0) + 1
    this.sent.set(`${shardId} ${target}`, number)
    return { target, number }
  }

  private conclusions({ concluded, token: { shardId } }: Part, actor: ActorAddress, effects: readonly Effect[]): void {
    for (const effect of effects) {
      if (effect.kind !== 'concluded') continue
      const { use, answer } = effect
      concluded.set(use === undefined ? actorKey(actor) : keyAddressOf({ shardId, accountId: actor.id }, use), answer)
    }
  }

  /** W4. */
  private apply({ ordered, token }: Part, batch: ShardBatch, what: string): void {
    try {
      this.serial.apply([batch])
    } catch (error) {
      this.demand(false, `W4: ${what}: ${error instanceof Error ? error.message : String(error)}`)
    }
    ordered.note(batch)
    const off = this.serial.value.unbalanced()
    if (off.size > 0)
      this.demand(false, `W4: ${what} in shard ${token.shardId}: value is off in ${[...off].join(', ')}`)
  }

  private remember(shardId: number, actor: ActorAddress, past: PastCommand): void {
    const key = actorKey(actor)
    const life = this.lives.get(key)
    if (life === undefined) this.lives.set(key, { shardId, actor, past: [past] })
    else life.past.push(past)
  }

  private same(what: string, replayed: unknown, found: unknown): void {
    if (isEqual(replayed ?? undefined, found ?? undefined)) return
    this.demand(false, `${what} it is otherwise${differenceOf(replayed, found)}`)
  }
}

/** The state as a look-up decodes it. */
function stateIn(rows: Rows, shardId: number, actor: ActorAddress): AnyState | undefined {
  if (actor.kind === 'account') return rows.account({ shardId, accountId: actor.id })
  return rows.actors.state({ shardId, address: actor })
}

/** W2: a fact that is present now may not have been known at the time of the look-up. */
function mayHaveKnownLess({ answer }: OrderedCommand, evidence: RowEvidence): boolean {
  if (answer === null || answer === 'unclear' || answer.kind !== 'refused') return false
  return evidence.usedForeignFacts()
}

/** The answer without residence, which rows do not contain. */
function inRows(answer: ActorAnswer | null): Answer | null {
  if (answer === 'deferred' || answer?.kind !== 'actor_shown') return answer === 'deferred' ? null : answer
  return { ...answer, actor: { ...answer.actor, resident: true, mailbox: 1 } }
}
