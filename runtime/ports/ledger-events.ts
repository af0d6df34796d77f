/**
 * The event log (D23): every fact that is final and can be proved, in the order of the commits.
 *   V1. The log is read from the committed rows. No event is written, so an event exists exactly if its fact does.
 *   V2. Each event has one position. Events of a shard follow its commits; events of an account follow its chain.
 *   V3. A read ends below the oldest running commit: no event appears later at or before a position that was given out.
 *   V4. The ID and the position of an event never change. The erasure of an account removes only the event's content.
 */
import type { Hash } from '../../actors/audit-chain.ts'
import type { GroupView } from '../../actors/group/state.ts'
import type { NftName } from '../../actors/nft-id.ts'
import type { NftEvent } from '../../actors/nft-instance/state.ts'
import type { Attestation } from './attestation-store.ts'
import type { SignedReceipt, TransactionView } from './ledger-reads.ts'

/** Without `ledger.` and the version. */
export const EVENT_NAMES = [
  'transaction.completed',
  'transaction.failed',
  'group.settled',
  'group.reverted',
  'account.registered',
  'account.key_registered',
  'account.key_rotated',
  'account.status_changed',
  'account.paused',
  'account.resumed',
  'account.imported',
  'account.leg_settled',
  /** An entry of a kind that this program does not know. */
  'account.changed',
  'account.erased',
  /** An entry whose account was erased later: its kind was erased, too. */
  'account.redacted',
  /** Of the payer's chain. A capture is a transaction with the hold's ID. */
  'hold.created',
  'hold.released',
  'hold.expired',
  'nft.minted',
  'nft.transferred',
  'nft.burned',
  'attestation.created',
  'attestation.revoked',
] as const
export type EventName = (typeof EVENT_NAMES)[number]

/** Opaque outside the adapter; at most 100 characters of ASCII. */
export type EventPosition = string

export interface LedgerEvent {
  /** `evt_` and 32 hexadecimal digits. The same in each read, also after an erasure. */
  readonly id: string
  readonly name: EventName
  /** The account, the group, or the NFT as `class/instance`. */
  readonly subject: string
  /** Null for a redacted entry, whose time was erased, too, and for an unknown kind without one. */
  readonly timeMs: number | null
  /** The accounts that it concerns; an erased account by its pseudonym. */
  readonly accountIds: readonly string[]
  /** The assets that it concerns: token IDs, and NFTs as `class/instance`. */
  readonly tokenIds: readonly string[]
  readonly content: EventContent
  /** A read after this position begins with the next event. */
  readonly position: EventPosition
}

export type EventContent =
  | { readonly kind: 'transaction'; readonly transaction: TransactionView; readonly receipt: SignedReceipt }
  | { readonly kind: 'group'; readonly group: GroupView }
  | { readonly kind: 'entry'; readonly accountId: string; readonly entry: EventEntry }
  | { readonly kind: 'nft'; readonly nft: NftName; readonly event: NftEvent }
  | { readonly kind: 'attestation'; readonly attestation: Attestation }
  /** Of an erased account. */
  | { readonly kind: 'erased_transaction'; readonly accountId: string; readonly transaction: ErasedTransaction }

/** An entry of an account's chain. `payload`: null for an erased account. */
export interface EventEntry {
  readonly sequence: number
  readonly previousHash: Hash
  readonly auditHash: Hash
  readonly payload: string | null
}

export interface ErasedTransaction {
  readonly txnId: string
  /** Null if it failed. */
  readonly auditHash: Hash | null
}

export interface EventPage {
  readonly events: readonly LedgerEvent[]
  /** Behind everything that the read examined, also where `events` is empty. */
  readonly next: EventPosition
  /** Whether the read reached the end of the log. */
  readonly atEnd: boolean
}

export interface LedgerEvents {
  /** The position behind all events so far. */
  readonly end: () => Promise<EventPosition>
  /** At most `limit` events after the position; null: from the first event of the ledger. */
  readonly read: (after: EventPosition | null, limit: number) => Promise<EventPage>
  /** Whether the first position is behind the second one in the log. Both are of this database. */
  readonly isAfter: (one: EventPosition, other: EventPosition) => boolean
  /** The pseudonym that `accountIds` has for the account once it is erased. */
  readonly erasedNameOf: (accountId: string) => string
}

/** A later attempt can succeed. */
export class EventsUnavailable extends Error {
  override readonly name = 'EventsUnavailable'
}

/**
 * The position belongs to another database, such as one that was replaced by a restore. Reading on from it could omit
 * events, so the reader must start again at a position of this database.
 */
export class EventPositionForeign extends Error {
  override readonly name = 'EventPositionForeign'
}
