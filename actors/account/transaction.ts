import type { EntryFormat } from '../audit-chain.ts'
import type { JsonObject } from '../canonical-json.ts'
import type { ExchangeSide } from '../message.ts'
import type { TransactionType } from './commands.ts'

/** Clients store the codes: never reuse or rename one. The failure codes of `api/README.md` have each of them. */
const FAILURES = {
  insufficient_funds: 'The amount is larger than the available balance.',
  balance_limit: 'The balance would leave 18 integer digits.',
  asset_limit: 'The account holds as many assets as an account may.',
  account_frozen: 'The account is frozen: it may only receive.',
  account_closed: 'The account is closed.',
  incoming_refused: 'The account refuses incoming value.',
  expired: 'The submission expired before it was decided.',
  exchange_expired: 'The other side of the exchange did not come in time.',
  exchange_limit: 'Too many exchanges wait under this group ID.',
  supply_limit: 'The supply would leave 18 integer digits.',
  supply_underflow: 'The amount is larger than the total supply.',
  group_closed: 'The settlement group is closed.',
  leg_limit: 'The token holds supply for its limit of legs of this client.',
  declined: 'An account declined its leg.',
  timed_out: 'The settlement group was not complete in time.',
  revert_requested: 'The revert of the settlement group was requested.',
  already_compensated: 'The transaction has been compensated, or is being compensated.',
  not_compensable: 'A transaction of this kind cannot be compensated.',
  refunded: 'The transaction was refunded, at least in part, or its refund is pending.',
  refund_original_not_found: 'The account received no transfer of this ID.',
  refund_mismatch: 'The asset or the receiver differs from the refunded transfer.',
  refund_exceeds_original: 'The refunds of the transfer would exceed its amount.',
  hold_not_found: 'The account is the beneficiary of no such hold.',
  hold_not_active: 'The hold was captured or released.',
  hold_expired: 'The hold has expired.',
  hold_exceeded: 'The amount is larger than what remains of the hold.',
  not_owner: 'The account does not own the NFT.',
  held: 'Another transaction holds the NFT.',
} as const

/** Failure of an accepted transaction or of a compensation. */
export type FailureCode = keyof typeof FAILURES
export const FAILURE_CODES = Object.keys(FAILURES) as readonly FailureCode[]

export interface Failure {
  readonly code: FailureCode
  readonly detail: string
}

export function failure(code: FailureCode): Failure {
  return { code, detail: FAILURES[code] }
}

/** A transaction without the client's payload. Immutable once final, except that it may be compensated. */
export interface TransactionRecord {
  readonly txnId: string
  readonly accountId: string
  readonly shardId: number
  readonly type: TransactionType
  readonly amount: string
  /** `BASE`, a token, or an NFT as `class/instance`. */
  readonly tokenId: string
  readonly groupId: string | null
  readonly status: 'pending' | 'completed' | 'failed'
  readonly failure: Failure | null
  readonly origin: 'client' | 'ledger'
  readonly metadata: JsonObject | null
  readonly toAccountId: string | null
  readonly fromAccountId: string | null
  /** The asset and amount that an exchange receives. */
  readonly receive: ExchangeSide | null
  /** The transaction that this one undoes. */
  readonly compensates: string | null
  /** The transfer that this one refunds. */
  readonly refunds: string | null
  /** The hold that it captures; absent for all others. */
  readonly holdId?: string
  /** The counterparty's transaction, once decided. */
  readonly counterTxnId: string | null
  readonly createdAtMs: number
  /** null while pending. */
  readonly processedAtMs: number | null
  /** The chain's fields are null unless completed: only transactions that changed the account are in its chain. */
  readonly sequence: number | null
  readonly previousHash: string | null
  readonly auditHash: string | null
  readonly entry: EntryDetails | null
  readonly idempotencyKey: string
  readonly payloadHash: string
  /** The account's key that accepted it; empty for the ledger's own. */
  readonly keyId: string
}

/**
 * Members of a chain entry that the transaction itself lacks. Quantities are decimal strings, of the account after the
 * transaction; null where the entry lacks the member.
 */
export interface EntryDetails {
  readonly format: EntryFormat
  /** 32 random hexadecimal digits. */
  readonly salt: string
  readonly balance: string | null
  readonly available: string | null
  readonly incoming: string | null
  /** Of the asset that an exchange receives. */
  readonly receivedBalance: string | null
  readonly receivedAvailable: string | null
  readonly receivedIncoming: string | null
}

export interface Transaction extends TransactionRecord {
  /** The canonical payload, signed by the client or made by the ledger, and the signature as received. */
  readonly payload: string
  readonly signature: string
}

/** Members of a transaction that its compensation, or a refund of it, needs. */
export type CompensableTransaction = Pick<
  TransactionRecord,
  | 'txnId'
  | 'accountId'
  | 'type'
  | 'amount'
  | 'tokenId'
  | 'groupId'
  | 'status'
  | 'toAccountId'
  | 'fromAccountId'
  | 'receive'
  | 'compensates'
  | 'refunds'
  | 'counterTxnId'
> & {
  readonly compensatedBy: string | null
  /** The sum of its completed refunds; null without one. */
  readonly refunded: string | null
  /** Set for a leg of a registered group, which alone undoes it. */
  readonly termsHash: string | null
}
