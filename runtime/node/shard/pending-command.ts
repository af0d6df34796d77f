/** A command in a mailbox, from arrival to verdict. */
import { type AccountCommand, keyUseOf } from '../../../actors/account/commands.ts'
import type { Answer, EarlierUse } from '../../../actors/account/outcome.ts'
import type { CompensableTransaction } from '../../../actors/account/transaction.ts'
import { type ActorAddress, actorKey } from '../../../actors/address.ts'
import type { AnyCommand } from '../../../actors/step-actor.ts'
import { appendTo } from '../../common/append-to.ts'
import type { Item, ItemVerdict, Verdict } from '../../protocol/messages.ts'
import { type GroupUse, type KeyAddress, keyAddressOf } from '../../ports/ledger-store.ts'
import type { Facts } from './facts.ts'
import type { CommandSpan } from './command-span.ts'
import type { Incarnation, Resident } from './incarnation.ts'

/** A request has a reply channel; a message has an outbox sequence; a timer has neither. */
export type Origin =
  | { readonly kind: 'request'; readonly item: Item; readonly channel: ReplyChannel }
  | { readonly kind: 'message'; readonly source: number; readonly number: number }
  | { readonly kind: 'due' }

export interface Findings {
  readonly groupUses: readonly GroupUse[]
  readonly transaction: CompensableTransaction | undefined
  /** Whether its idempotency key was used on the source ledger; undefined: not looked up. */
  readonly usedElsewhere: boolean | undefined
  /** null: no look-up was needed. */
  readonly facts: Facts | null
}

export const NOTHING_FOUND: Findings = {
  groupUses: [],
  transaction: undefined,
  usedElsewhere: undefined,
  facts: null,
}

/** Receiver of the verdicts of one message. */
export interface ReplyChannel {
  readonly send: (verdicts: readonly ItemVerdict[]) => void
}

let created = 0

export class Pending {
  /** Unique in the process, and ascending. */
  readonly number: number
  readonly origin: Origin
  readonly actor: ActorAddress
  readonly actorKey: string
  readonly command: AnyCommand
  /** The address of its idempotency key, also as one string; null for commands without a key. */
  readonly keyUse: KeyAddress | null
  readonly keyAddress: string | null
  incarnation: Incarnation
  /** undefined: its trace is not recorded. */
  readonly span: CommandSpan | undefined
  /** Leaves the look-up with this command's findings, which stays open until the command is settled (P2). */
  leaveLookUp: (() => void) | null = null
  /** The actor, which the command keeps in memory; null before the look-up. */
  resident: Resident | null = null
  /** Whether the actor was in memory before the command. */
  wasResident = false
  earlier: EarlierUse | undefined = undefined
  /** The address of the used key that its look-up asked for; null: none. */
  askedElsewhere: string | null = null
  /** Findings besides the actor and the idempotency key. */
  found: Findings = NOTHING_FOUND
  /** Signature verdicts, by `verdictKey`. */
  readonly verdicts = new Map<string, boolean>()
  /** A refusal that replaces the step, because the command could not be stored or processed. */
  forced: Answer | null = null
  /** It was in a commit of unknown outcome. */
  perhapsApplied = false
  /**
   * `times`: postponements between which other commits wrote rows. `written`: commits with rows at the last
   * postponement.
   */
  postponed: { readonly times: number; readonly written: number } | null = null

  constructor(origin: Origin, actor: ActorAddress, command: AnyCommand, incarnation: Incarnation, span?: CommandSpan) {
    created += 1
    this.number = created
    this.origin = origin
    this.actor = actor
    this.actorKey = actorKey(actor)
    this.command = command
    // Only account commands have idempotency keys; `keyUseOf` returns undefined for all others.
    const use = keyUseOf(command as AccountCommand)
    this.keyUse = use === undefined ? null : { shardId: incarnation.token.shardId, accountId: actor.id, ...use }
    this.keyAddress = this.keyUse === null ? null : keyAddressOf(this.keyUse)
    this.incarnation = incarnation
    this.span = span
  }
}

/** The conclusion that a deferred command waits for: of its idempotency key, or of its actor if it has none. */
export function waitsFor({ actorKey: key, keyAddress }: Pick<Pending, 'actorKey' | 'keyAddress'>): string {
  return keyAddress ?? key
}

export function verdictKey(keyId: string, signature: string): string {
  return `${keyId} ${signature}`
}

/** Sends the verdicts of requests, one message per channel; other commands get none. */
export function sendVerdicts(verdicts: Iterable<readonly [Pending, Verdict]>): void {
  const byChannel = new Map<ReplyChannel, ItemVerdict[]>()
  for (const [{ origin, span }, verdict] of verdicts) {
    if (origin.kind !== 'request') continue
    span?.answered(verdict.kind)
    const { requestId, attempt } = origin.item
    appendTo(byChannel, origin.channel, { requestId, attempt, verdict })
  }
  for (const [channel, list] of byChannel) channel.send(list)
}

/** Takes the command out of its mailbox and closes its part in the look-up. */
export function settle(pending: Pending): void {
  pending.incarnation.mailbox.delete(pending)
  release(pending)
}

/** The command no longer needs memory, though its client may still wait. */
export function release(pending: Pending): void {
  pending.leaveLookUp?.()
  pending.leaveLookUp = null
  letGo(pending)
}

/**
 * Stops stepping the incarnation. Its commands wait for the incarnation that replaces it and need none of this memory,
 * so their look-ups close. Open look-ups would let the pins of other shards grow while the store does not reply.
 */
export function suspend(incarnation: Incarnation): void {
  incarnation.phase = 'suspended'
  for (const pending of incarnation.mailbox) release(pending)
}

/** Whether a request's deadline has passed. Messages and timers have none. */
export function isLate({ origin }: Pending, nowMs: number): boolean {
  return origin.kind === 'request' && origin.item.deadlineMs <= nowMs
}

/** Keeps the actor in memory until the command is settled. */
export function holdOn(pending: Pending, resident: Resident): void {
  letGo(pending)
  resident.waiting += 1
  pending.resident = resident
}

export function letGo(pending: Pending): void {
  if (pending.resident !== null) pending.resident.waiting -= 1
  pending.resident = null
}
