/** A command in a mailbox, from its arrival to its verdict. */
import type { AccountCommand } from '../../actors/account/commands.ts'
import { accountOf, keyUseOf } from '../../actors/account/commands.ts'
import type { Answer, EarlierUse } from '../../actors/account/outcome.ts'
import type { Item, ItemVerdict, Verdict } from '../messages.ts'
import type { KeyAddress } from '../ports/ledger-store.ts'
import type { Incarnation, Resident } from './incarnation.ts'

export interface Pending {
  readonly item: Item
  readonly command: AccountCommand
  /** Where its idempotency key is looked up, and as one string; null for commands without one. */
  readonly keyUse: KeyAddress | null
  readonly keyAddress: string | null
  readonly channel: ReplyChannel
  incarnation: Incarnation
  /** The look-up that this command's evidence came from; it stays open until the command is settled (P2). */
  lookUp: LookUpMembership | null
  /** The account in memory that it keeps there; null until the account has been looked up. */
  resident: Resident | null
  earlier: EarlierUse | undefined
  /** Verdicts on signatures, by key and signature. */
  readonly verdicts: Map<string, boolean>
  /** Decided whatever the step would say: it could not be stored. */
  forced: Answer | null
  /** It was in a commit whose outcome is not known. */
  perhapsApplied: boolean
}

export interface LookUpMembership {
  readonly leave: () => void
}

/** Where the verdicts of one message go. */
export interface ReplyChannel {
  readonly send: (verdicts: readonly ItemVerdict[]) => void
}

export function verdictKey(keyId: string, signature: string): string {
  return `${keyId} ${signature}`
}

export function keyAddressOfCommand(command: AccountCommand, shardId: number): KeyAddress | null {
  const use = keyUseOf(command)
  return use === undefined ? null : { shardId, accountId: accountOf(command), ...use }
}

/** Sends verdicts, one message to each channel. */
export function sendVerdicts(verdicts: Iterable<readonly [Pending, Verdict]>): void {
  const byChannel = new Map<ReplyChannel, ItemVerdict[]>()
  for (const [pending, verdict] of verdicts) {
    const { requestId, attempt } = pending.item
    const list = byChannel.get(pending.channel)
    if (list === undefined) byChannel.set(pending.channel, [{ requestId, attempt, verdict }])
    else list.push({ requestId, attempt, verdict })
  }
  for (const [channel, list] of byChannel) channel.send(list)
}

/** Takes the command out of its mailbox and closes its part in the look-up. */
export function settle(pending: Pending): void {
  pending.incarnation.mailbox.delete(pending)
  pending.lookUp?.leave()
  pending.lookUp = null
  letGo(pending)
}

/** Keeps the account in memory until the command is settled. */
export function holdOn(pending: Pending, resident: Resident): void {
  letGo(pending)
  resident.waiting += 1
  pending.resident = resident
}

export function letGo(pending: Pending): void {
  if (pending.resident !== null) pending.resident.waiting -= 1
  pending.resident = null
}
