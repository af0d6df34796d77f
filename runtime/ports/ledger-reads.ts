/**
 * Reads from the ledger of record, without actors. Each call is a snapshot of the data committed when it began. Every
 * failure is a `ReadsUnavailable`.
 * Contract: test/contract/ledger-reads/ledger-reads.contract.ts
 */
import type { LegHold } from '../../actors/account/state.ts'
import type { AuditEntry } from '../../actors/audit-chain.ts'
import type { TransactionType } from '../../actors/account/commands.ts'
import type { AccountView } from '../../actors/account/outcome.ts'
import type { Transaction } from '../../actors/account/transaction.ts'
import type { GroupView } from '../../actors/group/state.ts'
import type { HoldStatus, HoldView } from '../../actors/hold/state.ts'
import type { ClassView } from '../../actors/nft-class/state.ts'
import type { InstanceView, NftEvent } from '../../actors/nft-instance/state.ts'
import type { TokenView } from '../../actors/token/state.ts'

export interface LedgerReads {
  /**
   * An erased account is shown with its chain, without the erased data; its transactions are not found or listed.
   * Elsewhere a name such as `erased:0123456789ab` replaces its ID.
   */
  readonly transaction: (txnId: string) => Promise<TransactionView | undefined>
  readonly receipt: (txnId: string) => Promise<SignedReceipt | undefined>
  /** Newest first, or as a feed (`order: 'asc'`). */
  readonly transactions: (query: TransactionQuery) => Promise<TransactionPage>
  /** undefined if there is no such account. */
  readonly account: (accountId: string) => Promise<AccountView | undefined>
  /** In a fixed order of the ledger's own, after `after` (an account ID). */
  readonly accounts: (after: string | null, limit: number) => Promise<AccountsPage>
  /**
   * Unsigned legs that groups expect of the account, by group ID and leg; undefined if there is no such account.
   */
  readonly expectations: (accountId: string) => Promise<readonly LegHold[] | undefined>
  readonly balances: (accountId: string) => Promise<readonly BalanceView[] | undefined>
  /**
   * Balances after the last entries up to a time (milliseconds since 1970, inclusive), by token ID, after `after`;
   * undefined if there is no such account.
   */
  readonly balancesAt: (
    accountId: string,
    atMs: number,
    after: string | null,
    limit: number,
  ) => Promise<BalancesAtPage | undefined>
  /** null: nothing of the asset had moved; undefined: there is no such account. */
  readonly balanceAt: (accountId: string, tokenId: string, atMs: number) => Promise<BalanceAt | null | undefined>
  /** Changes of one balance, oldest first; null if the account was erased, undefined if there is none. */
  readonly movements: (query: MovementQuery) => Promise<MovementsPage | null | undefined>
  /** Oldest first, after `afterSequence` (-1: from the start); undefined if there is no such account. */
  readonly auditChain: (accountId: string, afterSequence: number, limit: number) => Promise<AuditChainPage | undefined>
  /** Registered tokens, by the exact registered symbol; undefined until a registration is final. */
  readonly token: (tokenId: string) => Promise<TokenView | undefined>
  /** By symbol in lower case, after `after` (a token ID). */
  readonly tokens: (after: string | null, limit: number) => Promise<TokensPage>
  /**
   * A registered group; or the linked transactions and compensations under an unregistered ID (`linked`); undefined if
   * there are none.
   */
  readonly group: (groupId: string) => Promise<GroupView | undefined>
  /** A registered class; undefined until its registration is final. */
  readonly nftClass: (classId: string) => Promise<ClassView | undefined>
  /** By class ID, after `after`. */
  readonly nftClasses: (after: string | null, limit: number) => Promise<ClassesPage>
  /** undefined until it is minted; burned instances are found. */
  readonly instance: (classId: string, instanceId: string) => Promise<InstanceView | undefined>
  /** By instance ID, after `after`, with burned ones; undefined if there is no such class. */
  readonly instances: (classId: string, after: string | null, limit: number) => Promise<InstancesPage | undefined>
  /** NFTs of the account by class ID and instance ID, after `after` (an `nftId`); undefined: no account. */
  readonly ownedNfts: (accountId: string, after: string | null, limit: number) => Promise<OwnedNftsPage | undefined>
  /** Oldest first, after `afterNumber` (-1: from the mint); undefined if there is no such instance. */
  readonly nftHistory: (
    classId: string,
    instanceId: string,
    afterNumber: number,
    limit: number,
  ) => Promise<NftHistoryPage | undefined>
  /** undefined until its home has opened it. */
  readonly hold: (holdId: string) => Promise<HoldView | undefined>
  /** Holds of which the account is the payer, by ID, after `after`; undefined if there is no such account. */
  readonly holds: (
    accountId: string,
    status: HoldStatus,
    after: string | null,
    limit: number,
  ) => Promise<HoldsPage | undefined>
  /** Number of the client's groups that are not final. */
  readonly openGroups: (clientId: string) => Promise<number>
  /** Whether any shard has an owner. */
  readonly anyShardOwned: () => Promise<boolean>
}

/** A transaction in the detail view. Amounts are strings as signed. */
export type TransactionView = Pick<
  Transaction,
  | 'txnId'
  | 'accountId'
  | 'shardId'
  | 'type'
  | 'amount'
  | 'tokenId'
  | 'groupId'
  | 'failure'
  | 'origin'
  | 'metadata'
  | 'toAccountId'
  | 'fromAccountId'
  | 'receive'
  | 'compensates'
  | 'refunds'
  | 'holdId'
  | 'createdAtMs'
  | 'processedAtMs'
  | 'auditHash'
  | 'entry'
> & { readonly status: TransactionStatus; readonly compensatedBy: string | null; readonly refunded: string | null }

export const TRANSACTION_STATUSES = ['pending', 'completed', 'failed'] as const
export type TransactionStatus = (typeof TRANSACTION_STATUSES)[number]

export interface SignedReceipt {
  /** Canonical JSON: exactly what is signed. */
  readonly payload: string
  /** DER in base64. */
  readonly signature: string
}

/** `createdFromMs` is inclusive, `createdToMs` exclusive, both possibly fractional; amounts are inclusive. */
export interface TransactionQuery {
  readonly accountId: string | null
  readonly createdFromMs: number | null
  readonly createdToMs: number | null
  readonly type: TransactionType | null
  readonly tokenId: string | null
  readonly tokenClass: string | null
  readonly groupId: string | null
  readonly amountMin: string | null
  readonly amountMax: string | null
  readonly status: TransactionStatus | null
  /** An account's key: null if `accountId` is. */
  readonly idempotencyKey: string | null
  readonly order: 'desc' | 'asc'
  readonly limit: number
  /** The end of the previous page; null for the first. */
  readonly after: TransactionCursor | null
  /** Whether to count: pages after the first carry the count in their token. */
  readonly counted: boolean
}

/**
 * `position`: of the feed, opaque outside the adapter; null in newest-first lists. In a feed an empty `txnId` means
 * that the feed has no more rows yet.
 */
export interface TransactionCursor {
  readonly position: string | null
  readonly txnId: string
}

export interface TransactionPage {
  readonly transactions: readonly TransactionView[]
  /** null on the last page; never null in a feed. */
  readonly next: TransactionCursor | null
  /** Whether the list has no more rows yet. A feed has a `next` at its end too, and a page may end early. */
  readonly ended: boolean
  readonly count: ListCount | null
}

export interface ListCount {
  readonly total: number
  /** False: a lower bound. */
  readonly exact: boolean
}

interface CountedPage {
  /** The ID to continue after; null on the last page. */
  readonly next: string | null
  /** The total number, up to a limit; null after the first page. */
  readonly count: ListCount | null
}

export interface AccountsPage extends CountedPage {
  readonly accounts: readonly AccountView[]
}

export interface TokensPage extends CountedPage {
  readonly tokens: readonly TokenView[]
}

export interface ClassesPage extends CountedPage {
  readonly classes: readonly ClassView[]
}

export interface InstancesPage {
  readonly instances: readonly InstanceView[]
  /** The instance ID to continue after. */
  readonly next: string | null
}

export interface OwnedNft extends InstanceView {
  readonly className: string
  readonly acquiredAtMs: number
}

export interface OwnedNftsPage {
  readonly nfts: readonly OwnedNft[]
  /** The `nftId` to continue after. */
  readonly next: string | null
}

export interface HoldsPage {
  readonly holds: readonly HoldView[]
  /** The hold's ID to continue after. */
  readonly next: string | null
}

export interface NftHistoryPage {
  readonly events: readonly NftEvent[]
  readonly next: number | null
}

/** Quantities in minimal form. */
export interface BalanceView {
  readonly tokenId: string
  readonly tokenClass: 'fungible'
  readonly balance: string
  readonly available: string
  readonly incoming: string
  readonly decimals: number
  readonly updatedAtMs: number
}

/** As the entry `sequence` of the account's chain states it; `updatedAtMs` is the time of that entry. */
export interface BalanceAt extends BalanceView {
  readonly sequence: number
}

export interface BalancesAtPage {
  readonly balances: readonly BalanceAt[]
  /** The token ID to continue after. */
  readonly next: string | null
}

/** A place in an account's chain: behind the entry `sequence`. Times and sequences rise together. */
export interface ChainPlace {
  readonly atMs: number
  readonly sequence: number
}

/** `fromMs` is inclusive, `toMs` exclusive, both possibly fractional. */
export interface MovementQuery {
  readonly accountId: string
  readonly tokenId: string
  readonly fromMs: number | null
  readonly toMs: number
  /** The end of the previous page. */
  readonly after: ChainPlace | null
  /** Entries that a page reads. Not each of them changes the balance. */
  readonly limit: number
}

/** A change of a balance. `import`: the balance that an imported account brought, without a transaction. */
export interface Movement {
  readonly sequence: number
  readonly txnId: string | null
  readonly type: TransactionType | 'import'
  /** With `+` or `-`. */
  readonly amount: string
  readonly balanceAfter: string
  readonly atMs: number
}

/** `opening` and the amounts of `movements` add up to `closing`. */
export interface MovementsPage {
  readonly opening: StatementEnd
  readonly movements: readonly Movement[]
  readonly closing: StatementEnd
  readonly next: ChainPlace | null
}

/** `sequence`: the entry that states the balance; null: there was none. */
export interface StatementEnd {
  readonly balance: string
  readonly sequence: number | null
}

/** `payload`: null for an erased account. */
export type ChainEntryView = Omit<AuditEntry, 'payload'> & { readonly payload: string | null }

export interface AuditChainPage {
  readonly entries: readonly ChainEntryView[]
  readonly next: number | null
  readonly total: number
}

export class ReadsUnavailable extends Error {
  override readonly name = 'ReadsUnavailable'
}
