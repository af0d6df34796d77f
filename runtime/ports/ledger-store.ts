/**
 * The ledger of record, as shard owners write it. An acquire, the following loads and the commits are separate calls,
 * not one atomic operation.
 * Contract: test/contract/ledger-store/ledger-store.contract.ts
 *   D1. A shard's part of a batch is applied only if epoch, attempt and session equal the stored ones, checked under a
 *       lock that an acquire must wait for (I1). A part is applied whole.
 *   D2. An account is written only on the version that it was computed from; otherwise nothing of the batch is (I1b).
 *   D3. `failed` means that nothing was applied. If it is not known whether a batch was applied, the verdict is
 *       `unknown`.
 *   D4. A look-up shows all commits before its sending, and possibly later ones.
 *   D5. `acquire` returns `owned` only after every commit of the former owner has ended.
 *   D6. Counters of sent and consumed messages are stored by themselves, in the batch that sends or consumes: they do
 *       not follow from the remaining rows.
 *   D7. Once the erasure of an account is committed, nothing written of it before can be read, except its chain's
 *       sequence and hashes: its key uses and transactions are not found.
 */
import type { ActorAddress } from '../../actors/address.ts'
import type { AuditEntry } from '../../actors/audit-chain.ts'
import type { ActorState } from '../../actors/actor-state.ts'
import type { KeyedOperation, TransactionType } from '../../actors/account/commands.ts'
import type { EarlierUse, RecordedOperation } from '../../actors/account/outcome.ts'
import type { AccountKey, AccountState, Balance, Hold } from '../../actors/account/state.ts'
import type { ClassFacts } from '../../actors/nft-class/state.ts'
import type { NftEvent } from '../../actors/nft-instance/state.ts'
import type { CompensableTransaction, Transaction } from '../../actors/account/transaction.ts'
import type { Envelope } from '../../actors/message.ts'

export interface LedgerStore {
  readonly shards: () => Promise<readonly ShardRecord[]>
  /** Nodes and shards that administrators drain. */
  readonly drains: () => Promise<Drains>
  /** Takes a shard whose record was seen with `seenEpoch`; the new epoch must be larger. */
  readonly acquire: (shardId: number, seenEpoch: number, nextEpoch: number) => Promise<AcquireResult>
  /** Gives up an owned shard: its epoch rises, and it has no owner. False if this token did not own it. */
  readonly release: (token: ShardToken) => Promise<boolean>
  /** After an unknown outcome: fences the owner's own earlier commits. False if another node has the shard. */
  readonly raiseAttempt: (token: ShardToken) => Promise<boolean>
  /** One statement for a batch of many shards. Never rejects: an unknown outcome is a verdict. */
  readonly commit: (batch: CommitBatch) => Promise<CommitVerdict>
  /** One query for all waiting commands. */
  readonly lookUp: (question: LookUpQuestion) => Promise<LookUpAnswer>
  /** State of a shard that an owner loads before serving it, after an acquire or a raised attempt. */
  readonly openShard: (shardId: number) => Promise<ShardStart>
  /** Groups and exchanges of these shards that are due at or before the time, the longest due first. */
  readonly due: (shardIds: readonly number[], untilMs: number, limit: number) => Promise<readonly DueActor[]>
  /** Saves acknowledgements: they only grow, so saving needs no fence and may be late. */
  readonly acknowledge: (channels: readonly AcknowledgedChannel[]) => Promise<void>
  /** Deletes consumed messages that are older than the time. Returns their number; at most `limit`. */
  readonly prune: (shardIds: readonly number[], writtenBeforeMs: number, limit: number) => Promise<number>
  /** Whether a session can still have a commit in flight: false proves that it cannot. */
  readonly sessionHeld: (session: string) => Promise<boolean>
  /** Ends the connections of a session that counts as dead, to release its locks. */
  readonly terminate: (session: string) => Promise<void>
  /**
   * Commits a test write and returns the store's time. Rejects when the store has no room for rows.
   * `isGood` false: commits fail, and the store records that the session cannot commit.
   */
  readonly probe: (isGood?: boolean) => Promise<StoreProbe>
}

export interface ShardRecord {
  readonly shardId: number
  readonly epoch: number
  readonly attempt: number
  readonly nodeId: string | null
  readonly session: string | null
}

/** Wishes: a shard stays if no other node can serve it. */
export interface Drains {
  /** IDs of nodes that should give away all shards. */
  readonly nodes: ReadonlySet<string>
  /** Shards, each with the ID of the node that it should leave. */
  readonly shards: ReadonlyMap<number, string>
}

/** The right to write a shard. The session is the store's own: one store object is one session. */
export interface ShardToken {
  readonly shardId: number
  readonly epoch: number
  readonly attempt: number
}

export type AcquireResult =
  | { readonly kind: 'owned'; readonly token: ShardToken }
  /** Another node was faster. */
  | { readonly kind: 'lost' }
  /** The row is locked by a commit that does not end. */
  | { readonly kind: 'locked' }

export interface CommitBatch {
  readonly shards: readonly ShardBatch[]
}

/** The rows of one shard; none if only its fence is to be checked. Each row appears at most once. */
export interface ShardBatch {
  readonly token: ShardToken
  readonly accounts: readonly AccountWrite[]
  readonly balances: readonly BalanceWrite[]
  readonly keys: readonly AccountKeyWrite[]
  readonly entries: readonly AuditEntryWrite[]
  readonly transactions: readonly TransactionWrite[]
  readonly transactionChanges: readonly TransactionChange[]
  readonly refunds: readonly RefundWrite[]
  readonly operations: readonly RecordedOperation[]
  readonly holds: readonly HoldWrite[]
  readonly removedHolds: readonly HoldName[]
  /** IDs in `accounts` that this batch erases: it has no other rows of theirs but entries. */
  readonly erased: readonly string[]
  readonly actors: readonly ActorWrite[]
  readonly nftEvents: readonly NftEventWrite[]
  readonly outbox: readonly OutboxWrite[]
  /** The last number sent to each target in `outbox`. */
  readonly sent: readonly SentCounter[]
  /** The last number consumed of each source. */
  readonly marks: readonly InboxMark[]
  /** Value from and to external accounts, per asset; decimal strings, not both zero. */
  readonly boundary: readonly BoundaryCrossing[]
}

export interface AccountWrite {
  /** 0: the account is new. */
  readonly previousVersion: number
  readonly account: AccountState
  /** Absent if the change is not known. */
  readonly since?: AccountChange
}

/** The tokens and holds of an account that changed since an earlier state. */
export interface AccountChange {
  readonly previous: AccountState
  readonly tokenIds: readonly string[]
  readonly holdIds: readonly string[]
}

export interface BalanceWrite {
  readonly accountId: string
  readonly tokenId: string
  readonly balance: Balance
}

export interface AccountKeyWrite {
  readonly accountId: string
  readonly key: AccountKey
  readonly fromSequence: number
  readonly atMs: number
}

export interface AuditEntryWrite extends AuditEntry {
  readonly accountId: string
}

/** A new transaction, with its receipt's signature if it is final. */
export interface TransactionWrite {
  readonly transaction: Transaction
  /** null while pending. */
  readonly receipt: ReceiptWrite | null
}

export interface ReceiptWrite {
  readonly keyId: string
  /** DER in base64, over the canonical receipt. */
  readonly signature: string
}

/** A change of a stored transaction. At least one of `finished` and `compensatedBy` is not null. */
export interface TransactionChange {
  readonly txnId: string
  readonly finished: { readonly transaction: Transaction; readonly receipt: ReceiptWrite } | null
  readonly compensatedBy: string | null
}

/** The sum of the completed refunds of a transaction that an earlier batch made final. */
export interface RefundWrite {
  readonly txnId: string
  readonly accountId: string
  readonly refunded: string
}

export interface HoldName {
  readonly accountId: string
  readonly holdId: string
}

export interface HoldWrite extends HoldName {
  readonly hold: Hold
}

export interface ActorWrite {
  readonly address: ActorAddress
  /** 0: the actor is new. */
  readonly previousVersion: number
  /** null: the actor no longer exists. */
  readonly state: ActorState | null
}

export interface NftEventWrite {
  /** `class/instance`. */
  readonly nftId: string
  readonly event: NftEvent
}

export interface OutboxWrite extends OutboxMessage {
  readonly atMs: number
}

/**
 * An envelope as stored and delivered. `version`: of its format. Its source carries any version. Its target and
 * auditors read it through a `Wire` (wire.ts): of a foreign version only `to`, the presence of `message.type`, and
 * `carries` are known.
 */
export interface WrittenEnvelope extends Envelope {
  readonly version: number
}

export interface SentCounter {
  readonly target: number
  readonly sent: number
}

export interface InboxMark {
  readonly source: number
  readonly mark: number
}

export interface BoundaryCrossing {
  readonly tokenId: string
  readonly credited: string
  readonly debited: string
}

/** State that a new owner loads. */
export interface ShardStart {
  /** The shard's last transaction ID, after which its IDs must continue; null if there is none. */
  readonly lastTransactionId: string | null
  readonly channels: readonly ChannelStart[]
  readonly marks: readonly InboxMark[]
  /** Unacknowledged messages, in order per target. */
  readonly outbox: readonly OutboxMessage[]
}

export interface ChannelStart extends SentCounter {
  readonly acknowledged: number
}

export interface OutboxMessage {
  readonly target: number
  /** Consecutive, from 1. */
  readonly number: number
  readonly envelope: WrittenEnvelope
}

export interface AcknowledgedChannel {
  readonly shardId: number
  readonly target: number
  readonly acknowledged: number
}

export interface DueActor {
  readonly shardId: number
  readonly address: ActorAddress
  readonly dueAtMs: number
}

export type FailedCause = 'data' | 'invariant' | 'transient' | 'unsent'

export type CommitVerdict =
  /** A shard that is not named was busy or fenced: nothing of it was applied. */
  | { readonly kind: 'answered'; readonly committed: ReadonlySet<number> }
  /**
   * Nothing was applied. `invariant`: D2 was broken; `data`: the store cannot take a row; `unsent`: the batch was not
   * sent;
   * `transient`: no row is at fault, and the same batch may be retried.
   */
  | { readonly kind: 'failed'; readonly cause: FailedCause; readonly detail: string }
  | { readonly kind: 'unknown'; readonly detail: string }

/**
 * Only shards of the caller, except for `tokens`, `existing`, `classes` and `instances`: immutable facts of any shard.
 */
export interface LookUpQuestion {
  readonly accounts: readonly AccountAddress[]
  readonly keys: readonly KeyAddress[]
  readonly actors: readonly HomedActor[]
  readonly transactions: readonly TransactionName[]
  readonly credits: readonly CreditName[]
  /** Whether such a use exists. */
  readonly groupUses: readonly (GroupUseAddress & GroupUse)[]
  readonly tokens: readonly HomedActor[]
  readonly existing: readonly AccountAddress[]
  /** IDs of NFT classes. */
  readonly classes: readonly string[]
  /** NFT instances: whether they were minted. */
  readonly instances: readonly HomedActor[]
}

export interface AccountAddress {
  readonly shardId: number
  readonly accountId: string
}

/** `accountId`: the key's account. */
export interface KeyAddress extends AccountAddress {
  readonly operation: KeyedOperation
  readonly idempotencyKey: string
}

/** An actor other than an account, with its shard. */
export interface HomedActor {
  readonly shardId: number
  readonly address: ActorAddress
}

export interface TransactionName {
  readonly shardId: number
  readonly txnId: string
}

/** An account's credit of a transfer between accounts. `txnId`: of the transfer, or of the credit. */
export interface CreditName extends AccountAddress, TransactionName {}

export interface GroupUseAddress extends AccountAddress {
  readonly groupId: string
}

/** A client's transaction on an account under a group ID, with any status. */
export interface GroupUse {
  readonly type: TransactionType
  readonly tokenId: string
}

/** By `addressOf`, `keyAddressOf`, `creditNameOf`, `actorKey` and `groupUseAddressOf`; an absent entry does not exist. */
export interface LookUpAnswer {
  readonly accounts: ReadonlyMap<string, AccountState>
  readonly keys: ReadonlyMap<string, EarlierUse>
  readonly actors: ReadonlyMap<string, ActorState>
  /** By transaction ID. */
  readonly transactions: ReadonlyMap<string, CompensableTransaction>
  readonly credits: ReadonlyMap<string, CompensableTransaction>
  readonly groupUses: ReadonlyMap<string, readonly GroupUse[]>
  readonly tokens: ReadonlyMap<string, ActorState>
  /** Addresses of accounts. */
  readonly existing: ReadonlySet<string>
  /** Registered classes, by class ID. */
  readonly classes: ReadonlyMap<string, ClassFacts>
  /** IDs, `class/instance`, of minted instances, burned ones included. */
  readonly instances: ReadonlySet<string>
  /** Shards with a requested row that cannot be read or verified, and the cause. */
  readonly unreadable: ReadonlyMap<number, string>
}

/** An account's address as one string; IDs have no spaces. */
export function addressOf(address: AccountAddress): string {
  return `${address.shardId} ${address.accountId}`
}

export function keyAddressOf(address: KeyAddress): string {
  return `${address.shardId} ${address.accountId} ${address.operation} ${address.idempotencyKey}`
}

export function creditNameOf(name: CreditName): string {
  return `${addressOf(name)} ${name.txnId}`
}

export function groupUseAddressOf(address: GroupUseAddress): string {
  return `${addressOf(address)} ${address.groupId}`
}

export interface StoreProbe {
  /** The store's wall clock, milliseconds since 1970. */
  readonly nowMs: number
}

/** Every failure of a call other than `commit`. The cause stays inside infra/. */
export class LedgerStoreUnavailable extends Error {
  override readonly name = 'LedgerStoreUnavailable'
}
