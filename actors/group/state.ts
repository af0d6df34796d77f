/** State of a settlement group. Plain JSON. */
import type { Failure } from '../account/transaction.ts'
import type { JsonObject } from '../canonical-json.ts'
import type { Compensation, GroupMessage, LegRole, LegTerms, Stamp } from '../message.ts'
import type { Refusal } from '../refusal.ts'
import type { CommandBase } from '../account/commands.ts'
import type { DueCommand } from '../define-actor.ts'
import type { Terms } from './terms.ts'

/**
 * `registering`: waiting for accounts to expect their legs; `refusing`: an account refused, the others must cancel;
 * `open`; `settling`, `reverting`: decided, waiting for replies; `settled`, `reverted`: final; `linked`: never
 * registered, stores only compensations under its ID.
 */
export type GroupStatus = keyof typeof SHOWN

export interface GroupData {
  readonly kind: 'group'
  readonly format: 1
  /** The group ID, in lower case. */
  readonly id: string
  /** Counts every write (I1b). */
  readonly version: number
  /** 64 hexadecimal digits; empty for a linked group. */
  readonly termsHash: string
  readonly timeoutSeconds: number
  readonly legs: readonly GroupLeg[]
  readonly clientId: string
  readonly registrationKey: string
  /** The refusal, while the group is refusing. */
  readonly refused: Refusal | null
  /** The cause of the revert; null if the group does not revert. */
  readonly failure: Failure | null
  /** Requested compensations of a linked group, by transaction ID. */
  readonly compensationsAsked: { readonly [txnId: string]: CompensationRequest }
  readonly compensations: readonly Compensation[]
  readonly partialFailures: readonly PartialFailure[]
  readonly createdAtMs: number
  /** The time of reverting unless all legs are in; null once it no longer applies. */
  readonly dueAtMs: number | null
  /** The agreed `dueAtMs`, kept for display. */
  readonly timeoutAtMs: number | null
  readonly finishedAtMs: number | null
  readonly lastTimeMs: number
}

export interface GroupState extends GroupData {
  readonly status: GroupStatus
}

export interface GroupLeg {
  readonly terms: LegTerms
  readonly parts: readonly LegPart[]
}

/**
 * One side of a leg, at its own home.
 *   `asked`: expectation sent; `expected`; `refused`: expectation refused; `unasked`: no message before the leg's
 *   account has signed; `ordered`: order to take a transfer's value, or to hold supply, sent; `completed`; `failed`;
 *   `settling`, `settled`;
 *   `reverting`, `reverted`.
 */
export interface LegPart {
  readonly role: LegRole
  readonly state: PartState
  readonly txnId: string | null
  /** For the receiver's message; null before the transaction, and once that message is sent. */
  readonly metadata: JsonObject | null
  /** Whether the leg failed; later messages to it do not change that. */
  readonly failed: boolean
  /** The transaction that undid it. */
  readonly compensationTxnId: string | null
}

export type PartState =
  | 'unasked'
  | 'asked'
  | 'expected'
  | 'refused'
  | 'ordered'
  | 'completed'
  | 'failed'
  | 'settling'
  | 'settled'
  | 'reverting'
  | 'reverted'

export interface CompensationRequest {
  readonly accountId: string
  readonly state: 'asked' | 'done' | 'failed'
}

export interface PartialFailure extends Failure {
  readonly txnId: string
}

export interface GroupView {
  /** The cause of the revert; null if the group does not revert. */
  readonly failure: Failure | null
  readonly groupId: string
  readonly status: 'open' | 'settled' | 'reverting' | 'reverted' | 'linked'
  readonly termsHash: string | null
  readonly legs: readonly GroupLegView[]
  readonly compensations: readonly Compensation[]
  readonly partialFailures: readonly PartialFailure[]
  readonly createdAtMs: number | null
  readonly dueAtMs: number | null
  readonly finishedAtMs: number | null
}

export interface GroupLegView extends LegTerms {
  readonly status: 'expected' | 'completed' | 'failed' | 'compensated'
  readonly txnId: string | null
}

/** The public status; null before the registration is final. */
const SHOWN = {
  registering: null,
  refusing: null,
  open: 'open',
  settling: 'open',
  settled: 'settled',
  reverting: 'reverting',
  reverted: 'reverted',
  linked: 'linked',
} as const satisfies Readonly<Record<string, GroupView['status'] | null>>

export function shown(status: GroupStatus): GroupView['status'] {
  return SHOWN[status] ?? 'open'
}

/** undefined before the registration is final. */
export function groupViewOf(group: GroupState): GroupView | undefined {
  const status = SHOWN[group.status]
  return status === null ? undefined : groupViewAs(group, status)
}

/** Only a linked group has no terms. */
export function groupViewAs(group: GroupData, status: GroupView['status']): GroupView {
  const isRegistered = group.termsHash !== ''
  return {
    groupId: group.id,
    status,
    termsHash: isRegistered ? group.termsHash : null,
    legs: group.legs.map(legViewOf),
    compensations: group.compensations,
    partialFailures: group.partialFailures,
    createdAtMs: isRegistered ? group.createdAtMs : null,
    dueAtMs: group.timeoutAtMs,
    finishedAtMs: group.finishedAtMs,
    failure: group.failure,
  }
}

function legViewOf({ terms, parts }: GroupLeg): GroupLegView {
  const own = parts.find(({ role }) => role === 'own')
  const txnId = own?.txnId ?? null
  return { ...terms, status: legStatusOf(own), txnId }
}

function legStatusOf(own: LegPart | undefined): GroupLegView['status'] {
  if (own?.failed) return 'failed'
  if (own === undefined || own.txnId === null) return 'expected'
  return own.compensationTxnId === null ? 'completed' : 'compensated'
}

export interface RegisterGroupCommand extends CommandBase {
  readonly type: 'register_group'
  readonly groupId: string
  readonly terms: Terms
  /** Idempotency key of the registration; it begins with `request` unless the client gave one. */
  readonly registrationKey: string
}

export interface RevertGroupCommand extends CommandBase {
  readonly type: 'revert_group'
  readonly groupId: string
  readonly reason: string
  /** Transactions of a linked group to compensate. */
  readonly transactions: readonly { readonly txnId: string; readonly accountId: string }[]
}

export type GroupCommand = RegisterGroupCommand | RevertGroupCommand | (GroupMessage & Stamp) | DueCommand
export type GroupCommandOf<Type extends GroupCommand['type']> = Extract<GroupCommand, { readonly type: Type }>
