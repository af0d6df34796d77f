/** A command in a mailbox, from its arrival to its end. */
import { type AccountCommand, keyUseOf } from '../../../actors/account/commands.ts'
import type { Answer, EarlierUse } from '../../../actors/account/outcome.ts'
import type { CompensableTransaction } from '../../../actors/account/transaction.ts'
import { type ActorAddress, actorKey } from '../../../actors/address.ts'
import type { AnyCommand } from '../../../actors/step-actor.ts'
import { appendTo } from '../../common/append-to.ts'
import type { Item, ItemVerdict, Verdict } from '../../protocol/messages.ts'
import { type GroupUse, type KeyAddress, keyAddressOf } from '../../ports/ledger-store.ts'
import type { Facts } from './facts.ts'
import type { Incarnation, Resident } from './incarnation.ts'

/** A client's request has somebody who waits; a message has a number that it is taken in under; a time has neither. */
export type Origin =
  | { readonly kind: 'request'; readonly item: Item; readonly channel: ReplyChannel }
  | { readonly kind: 'message'; readonly source: number; readonly number: number }
  | { readonly kind: 'due' }

export interface Findings {
  readonly groupUses: readonly GroupUse[]
  readonly transaction: CompensableTransaction | undefined
  /** Its key, on the ledger that its account came from; undefined: nobody has looked. */
  readonly usedElsewhere: boolean | undefined
  /** null: it was not looked up, and needs none. */
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
  /** Tells it from all others of the process; later ones have larger numbers. */
  readonly number: number
  readonly origin: Origin
  readonly actor: ActorAddress
  readonly actorKey: string
  readonly command: AnyCommand
  /** The look-up of its idempotency key, and the same as one string; null for commands without a key. */
  readonly keyUse: KeyAddress | null
  readonly keyAddress: string | null
  incarnation: Incarnation
  /** Leaves the look-up that this command's evidence came from, which stays open until the command is settled (P2). */
  leaveLookUp: (() => void) | null = null
  /** The actor in memory that it keeps there; null until it has been looked up. */
  resident: Resident | null = null
  /** Whether it was there before the command. */
  wasResident = false
  earlier: EarlierUse | undefined = undefined
  /** The key that its look-up asked for as used elsewhere; null: it asked for none. */
  askedElsewhere: string | null = null
  /** Look-up results beside the actor and its key. */
  found: Findings = NOTHING_FOUND
  /** Verdicts on signatures, by key and signature. */
  readonly verdicts = new Map<string, boolean>()
  /** Decided whatever the step would say: it could not be stored. */
  forced: Answer | null = null
  /** It was in a commit whose outcome is not known. */
  perhapsApplied = false
  /** `times`: postponements between which other commits wrote rows. `written`: commits with rows at the last postponement. */
  postponed: { readonly times: number; readonly written: number } | null = null

  constructor(origin: Origin, actor: ActorAddress, command: AnyCommand, incarnation: Incarnation) {
    created += 1
    this.number = created
    this.origin = origin
    this.actor = actor
    this.actorKey = actorKey(actor)
    this.command = command
    // Only commands of accounts have idempotency keys; of all others there is no use.
    const use = keyUseOf(command as AccountCommand)
    this.keyUse = use === undefined ? null : { shardId: incarnation.token.shardId, accountId: actor.id, ...use }
    this.keyAddress = this.keyUse === null ? null : keyAddressOf(this.keyUse)
    this.incarnation = incarnation
  }
}

/** The conclusion that a deferred command waits for: of its idempotency key, or of its actor if it has none. */
export function waitsFor({ actorKey: key, keyAddress }: Pick<Pending, 'actorKey' | 'keyAddress'>): string {
  return keyAddress ?? key
}

export function verdictKey(keyId: string, signature: string): string {
  return `${keyId} ${signature}`
}

/** Sends the verdicts of requests, one message to each channel; nobody waits for what became of the others. */
export function sendVerdicts(verdicts: Iterable<readonly [Pending, Verdict]>): void {
  const byChannel = new Map<ReplyChannel, ItemVerdict[]>()
  for (const [{ origin }, verdict] of verdicts) {
    if (origin.kind !== 'request') continue
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

/** It needs nothing of memory any more, though somebody may wait for it still. */
export function release(pending: Pending): void {
  pending.leaveLookUp?.()
  pending.leaveLookUp = null
  letGo(pending)
}

/**
 * Stops stepping the incarnation. Its commands wait for the incarnation that replaces it and need none of this memory, so
 * their look-ups close. Open look-ups would let the pins of other shards grow while the store does not reply.
 */
export function suspend(incarnation: Incarnation): void {
  incarnation.phase = 'suspended'
  for (const pending of incarnation.mailbox) release(pending)
}

/** Whether nobody waits for it any more. Messages and times wait for ever. */
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
