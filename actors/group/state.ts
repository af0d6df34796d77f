/** State of a settlement group. Plain JSON. */
import type { Failure } from '../account/transaction.ts'
import type { JsonObject } from '../canonical-json.ts'
import type { Compensation, LegRole, LegTerms, Refused } from '../message.ts'

/**
 * `registering`: not every account expects its legs yet; `refusing`: one would not, the others are being told;
 * `open`; `settling`, `reverting`: decided, not everybody has done it; `settled`, `reverted`: final.
 * `linked`: never registered, it only keeps what was compensated under its ID.
 */
export type GroupStatus =
  | 'registering'
  | 'refusing'
  | 'open'
  | 'settling'
  | 'settled'
  | 'reverting'
  | 'reverted'
  | 'linked'

/** Everything of a group but its status, which its machine knows. */
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
  /** Why it is being refused, while it is. */
  readonly refused: Refused | null
  /** Why the group reverts; null if it does not. */
  readonly failure: Failure | null
  /** Requested compensations of a linked group, by transaction ID. */
  readonly compensationsAsked: { readonly [txnId: string]: AskedCompensation }
  readonly compensations: readonly Compensation[]
  readonly partialFailures: readonly PartialFailure[]
  readonly createdAtMs: number
  /** When it is reverted unless all legs are in. null once nothing is due. */
  readonly dueAtMs: number | null
  /** `dueAtMs` as it was agreed: shown for ever. */
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
 *   `asked`: expectation sent; `expected`; `refused`: expectation refused; `unasked`: no message before the leg's account
 *   has signed; `ordered`: order to take a transfer's value, or to hold supply, sent; `completed`; `failed`; `settling`, `settled`;
 *   `reverting`, `reverted`.
 */
export interface LegPart {
  readonly role: LegRole
  readonly state: PartState
  readonly txnId: string | null
  /** Metadata for the receiver's message; null before the transaction, and once that message is sent. */
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

export interface AskedCompensation {
  readonly accountId: string
  readonly state: 'asked' | 'done' | 'failed'
}

export interface PartialFailure extends Failure {
  readonly txnId: string
}

/** A group as it is shown. */
export interface GroupView {
  /** Why it reverts or has reverted; null for any other. */
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

/** How a group of each status is shown; null until it is registered. */
const SHOWN = {
  registering: null,
  refusing: null,
  open: 'open',
  settling: 'open',
  settled: 'settled',
  reverting: 'reverting',
  reverted: 'reverted',
  linked: 'linked',
} as const satisfies Readonly<Record<GroupStatus, GroupView['status'] | null>>

/** For a status in which a group is shown. */
export function shown(status: GroupStatus): GroupView['status'] {
  return SHOWN[status] ?? 'open'
}

/** undefined until it is registered. */
export function groupViewOf(group: GroupState): GroupView | undefined {
  const status = SHOWN[group.status]
  return status === null ? undefined : groupViewAs(group, status)
}

/** As it is shown with this status. Only a group that was never registered has no terms. */
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
