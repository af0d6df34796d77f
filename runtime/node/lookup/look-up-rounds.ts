/**
 * Decides which commands are looked up together: all gathered ones, or fewer after a failed round.
 *   K1. A shard's commands leave in order of arrival: they are in one round at a time.
 *   K5. If a round fails and the store replies, its shards are separated: each is looked up alone, and halved by
 *       command while that fails. A command that fails alone waits with its shard, with back-off. A shard whose round
 *       succeeds joins the others again. If the store does not reply, the same round is retried.
 *   K6. After a failed round, late requests are given up: they may be the ones that other commands wait for.
 *   K7. A command whose look-up fails alone is contained: a request at once if the store is not at fault, else when it
 *       is late (K6); a message or a timer after `MAX_ALONE` attempts, or after one if it was parked before.
 */
import { TransientMap } from '../../common/transient-map.ts'
import { LedgerStoreUnavailable } from '../../ports/ledger-store.ts'
import { reasonOf } from '../../common/reason.ts'
import { type Contain, faultOf } from '../recovery/containment.ts'
import { requestFields, leaveUndecided } from '../shard/request-log.ts'
import type { Incarnation } from '../shard/incarnation.ts'
import type { NodeContext } from '../shard/node-context.ts'
import { isLate, type Pending } from '../shard/pending-command.ts'

/** Commands in one round. */
const MAX_ROUND_SIZE = 2_000
const RETRY_DELAY_MS = 100
const LONGEST_RETRY_DELAY_MS = 1_000
/** Failed look-ups of a single message or timer before it is contained, while the store answers others. */
export const MAX_ALONE = 5

export interface RoundsDependencies extends Pick<NodeContext, 'clock' | 'log' | 'metrics' | 'rare'> {
  /** Whether the store replies at all. Does not reject. */
  readonly isAnswering: () => Promise<boolean>
  /** Looks the commands up; the returned function hands them on. Rejects if the look-up fails. */
  readonly lookUp: (round: readonly Pending[]) => Promise<() => void>
  readonly contain: Contain
  /** Called once a round, after its commands are handed on. */
  readonly onReady: () => void
}

/** `refused`: the look-up failed with this error, though the store replies. `away`: the store does not reply. */
type Outcome =
  | { readonly kind: 'answered' }
  | { readonly kind: 'away' }
  | { readonly kind: 'refused'; readonly error: unknown }

interface RoundMember {
  readonly pending: Pending
  /** The incarnation that the look-up is for. */
  readonly incarnation: Incarnation
}

/** A separated shard (K5), and the number of its commands in one look-up. */
interface SeparatedShard {
  readonly incarnation: Incarnation
  readonly size: number
  /** Pause before the next look-up. */
  readonly pauseMs: number
}

export class LookUpRounds {
  private readonly dependencies: RoundsDependencies
  /** By number, in order of arrival; a command that a new incarnation takes over is in it once. */
  private readonly gathering = new TransientMap<number, Pending>()
  /** The incarnation of each command's look-up, by the command's number; a new incarnation replaces the old one. */
  private readonly under = new TransientMap<number, Incarnation>()
  /** One common round is in flight: later commands join the next, and a larger round costs little more. */
  private isOpen = false
  private isScheduled = false
  private maxSize = MAX_ROUND_SIZE
  private readonly apart = new Set<Incarnation>()
  /** Separated shards whose pause is over; one of them in flight. */
  private readonly due: SeparatedShard[] = []
  private isApartOpen = false
  /** Failed look-ups of each command alone. */
  private readonly aloneTries = new WeakMap<Pending, number>()
  /** Whether the last round found the store away: a continuing failure is logged once. */
  private isAway = false

  constructor(dependencies: RoundsDependencies) {
    this.dependencies = dependencies
  }

  /** Adds a command for its current incarnation. */
  add(pending: Pending): void {
    this.begin(pending)
    this.gathering.delete(pending.number)
    this.gathering.set(pending.number, pending)
    if (!this.apart.has(pending.incarnation)) this.schedule()
  }

  private begin(pending: Pending): void {
    this.end(pending, this.under.get(pending.number))
    this.under.set(pending.number, pending.incarnation)
    pending.incarnation.lookingUp += 1
  }

  private end(pending: Pending, incarnation: Incarnation | undefined): void {
    if (incarnation === undefined || this.under.get(pending.number) !== incarnation) return
    this.under.delete(pending.number)
    incarnation.lookingUp -= 1
  }

  private schedule(pauseMs = 0): void {
    const { clock, rare } = this.dependencies
    if (this.isScheduled || this.isOpen || this.gathering.size === 0) return
    this.isScheduled = true
    clock.after(pauseMs, () => {
      this.isScheduled = false
      const size = rare.takes('look_up_of_one') ? 1 : this.maxSize
      const round = this.take(size, (incarnation) => !this.apart.has(incarnation))
      if (round.length > 0) void this.runTogether(round)
    })
  }

  private take(size: number, isMeant: (incarnation: Incarnation) => boolean): readonly RoundMember[] {
    const taken: RoundMember[] = []
    for (const pending of this.gathering.values()) {
      if (taken.length === size) break
      const { incarnation } = pending
      if (!isMeant(incarnation)) continue
      this.gathering.delete(pending.number)
      if (isWanted(pending)) taken.push({ pending, incarnation })
      else this.end(pending, incarnation)
    }
    return taken
  }

  private async runTogether(round: readonly RoundMember[]): Promise<void> {
    this.isOpen = true
    const outcome = await this.run(round)
    this.isOpen = false
    if (outcome.kind === 'answered') this.maxSize = twice(this.maxSize)
    if (outcome.kind === 'refused') {
      this.maxSize = half(round.length)
      for (const incarnation of new Set(round.map((taken) => taken.incarnation))) {
        this.apart.add(incarnation)
        this.pause({ incarnation, size: this.maxSize, pauseMs: RETRY_DELAY_MS })
      }
    }
    this.schedule(outcome.kind === 'away' ? RETRY_DELAY_MS : 0)
  }

  private pause(next: SeparatedShard): void {
    this.dependencies.clock.after(next.pauseMs, () => {
      this.due.push(next)
      this.runNextApart()
    })
  }

  private runNextApart(): void {
    if (this.isApartOpen) return
    const next = this.due.shift()
    if (next !== undefined) void this.runApart(next)
  }

  private async runApart({ incarnation, size, pauseMs }: SeparatedShard): Promise<void> {
    this.isApartOpen = true
    const round = this.take(size, (other) => other === incarnation)
    const outcome: Outcome = round.length === 0 ? { kind: 'answered' } : await this.run(round)
    this.isApartOpen = false
    const [first] = round
    if (outcome.kind === 'answered' && round.length < size) {
      this.apart.delete(incarnation)
      this.schedule()
    } else if (outcome.kind === 'answered') this.due.push({ incarnation, size: twice(size), pauseMs: RETRY_DELAY_MS })
    else if (outcome.kind === 'away') this.pause({ incarnation, size, pauseMs: RETRY_DELAY_MS })
    else if (round.length > 1) this.pause({ incarnation, size: half(round.length), pauseMs: RETRY_DELAY_MS })
    else if (first !== undefined && this.givesUp(first, outcome.error)) this.due.push({ incarnation, size: 1, pauseMs })
    else this.pause({ incarnation, size: 1, pauseMs: Math.min(pauseMs * 2, LONGEST_RETRY_DELAY_MS) })
    this.runNextApart()
  }

  private async run(round: readonly RoundMember[]): Promise<Outcome> {
    const { lookUp, isAnswering, onReady } = this.dependencies
    let handOn: () => void
    try {
      handOn = await lookUp(round.map(({ pending }) => pending))
    } catch (error) {
      this.takeBack(round)
      const outcome: Outcome = (await isAnswering()) ? { kind: 'refused', error } : { kind: 'away' }
      this.logFailure(round, outcome, error)
      return outcome
    }
    this.isAway = false
    for (const { pending, incarnation } of round) this.end(pending, incarnation)
    handOn()
    onReady()
    return { kind: 'answered' }
  }

  private logFailure(round: readonly RoundMember[], { kind }: Outcome, error: unknown): void {
    const [first] = round
    const alone = kind === 'refused' && round.length === 1 ? first?.pending : undefined
    const isAgain = kind === 'away' && this.isAway
    this.isAway = kind === 'away'
    // K7: containment logs all other failures of a single command.
    const isLogged = alone === undefined || (isPatient(alone, error) && !this.aloneTries.has(alone))
    if (isAgain || !isLogged) return
    const named = alone === undefined ? {} : requestFields(alone)
    this.dependencies.log.warn('look_up_failed', { ...named, cause: reasonOf(error), commands: round.length })
  }

  /** K7. Returns whether the command was contained, so that its shard does not wait for it. */
  private givesUp({ pending, incarnation }: RoundMember, error: unknown): boolean {
    const tries = (this.aloneTries.get(pending) ?? 0) + 1
    this.aloneTries.set(pending, tries)
    const mayWait =
      pending.origin.kind === 'request' ? isPatient(pending, error) : tries < MAX_ALONE && !wasParked(pending)
    if (mayWait || this.under.get(pending.number) !== incarnation || !isWanted(pending)) return false
    const { contain, onReady } = this.dependencies
    this.gathering.delete(pending.number)
    this.end(pending, incarnation)
    if (contain(pending, faultOf('look_up', error))) {
      incarnation.ready.push(pending)
      onReady()
    }
    return true
  }

  /** Puts the commands back before all later ones, except those that a new incarnation has taken over. */
  private takeBack(round: readonly RoundMember[]): void {
    const left = round.filter(({ pending, incarnation }) => this.under.get(pending.number) === incarnation)
    const all = [...left.map(({ pending }) => pending), ...this.gathering.values()]
    this.gathering.clear()
    const nowMs = this.dependencies.clock.now()
    const late: Pending[] = []
    for (const pending of all) {
      if (isWanted(pending) && !isLate(pending, nowMs)) {
        this.gathering.set(pending.number, pending)
        continue
      }
      this.end(pending, pending.incarnation)
      if (isWanted(pending)) late.push(pending)
    }
    leaveUndecided(late, 'late', this.dependencies)
  }
}

/** Whether a request waits until its deadline, because the store is at fault. */
function isPatient({ origin }: Pending, error: unknown): boolean {
  return origin.kind === 'request' && error instanceof LedgerStoreUnavailable
}

/** R5: a parked message or timer is tried once. */
function wasParked({ origin, actorKey, incarnation }: Pending): boolean {
  if (origin.kind === 'message') return incarnation.parkedChannels.get(origin.source) === origin.number
  return incarnation.parkedTimers.has(actorKey)
}

/** Whether the command still needs this look-up: it may be given up, or wait for a new incarnation. */
function isWanted(pending: Pending): boolean {
  const { phase, mailbox } = pending.incarnation
  return phase !== 'suspended' && mailbox.has(pending)
}

function twice(size: number): number {
  return Math.min(size * 2, MAX_ROUND_SIZE)
}

function half(count: number): number {
  return Math.ceil(count / 2)
}
