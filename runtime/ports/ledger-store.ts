/**
 * The ledger of record as its owners write it. Not shaped like SQL and not atomic where a database is not:
 * an acquire, the loads after it and the commits are events of their own.
 * Contract: test/contract/ledger-store.contract.ts
 *   D1. A shard's part of a batch is applied only if epoch, attempt and session are those in the store, checked under a
 *       lock that an acquire must wait for (I1). What is applied is applied whole.
 *   D2. An account is written only on top of the version it was computed from; otherwise nothing of the batch is (I1b).
 *   D3. `failed` means that nothing was applied. Whatever is not known to be applied or failed is `unknown`.
 *   D4. A look-up shows what was committed when it was sent, and perhaps what was committed since.
 *   D5. `acquire` returns `owned` only after every commit of the owner before has ended.
 */
import type { AuditEntry } from '../../actors/audit-chain.ts'
import type { KeyedOperation } from '../../actors/account/commands.ts'
import type { EarlierUse, RecordedOperation, Transaction } from '../../actors/account/outcome.ts'
import type { AccountKey, AccountState, Balance } from '../../actors/account/state.ts'

export interface LedgerStore {
  /** Who owns what, as durable truth. */
  readonly shards: () => Promise<readonly ShardRecord[]>
  /** Takes a shard whose record was seen with `seenEpoch`; the new epoch is given and must be larger. */
  readonly acquire: (shardId: number, seenEpoch: number, nextEpoch: number) => Promise<AcquireResult>
  /** Gives up an owned shard: its epoch rises, its owner is nobody. False when it was not owned by this token. */
  readonly release: (token: ShardToken) => Promise<boolean>
  /** After an unknown outcome: fences this session's own earlier commits. False when the shard is another's by now. */
  readonly raiseAttempt: (token: ShardToken) => Promise<boolean>
  /** One statement for a batch of many shards. Never rejects: not knowing is a verdict. */
  readonly commit: (batch: CommitBatch) => Promise<CommitVerdict>
  /** One query for everything that waits. */
  readonly lookUp: (question: LookUpQuestion) => Promise<LookUpAnswer>
  /** The last transaction ID that the shard gave, so that its IDs go on growing; null when it gave none. */
  readonly lastTransactionId: (shardId: number) => Promise<string | null>
  /** Whether a session can still have a commit in flight: false is proof that it cannot. */
  readonly sessionHeld: (session: string) => Promise<boolean>
  /** Ends the connections of a session that is held for dead, so that its locks go. */
  readonly terminate: (session: string) => Promise<void>
  /** A write that commits, to know that writing works; and the store's clock. */
  readonly probe: () => Promise<StoreProbe>
}

export interface ShardRecord {
  readonly shardId: number
  readonly epoch: number
  readonly attempt: number
  readonly nodeId: string | null
  readonly session: string | null
}

/** The right to write a shard. The session is the store's own: one store object is one session. */
export interface ShardToken {
  readonly shardId: number
  readonly epoch: number
  readonly attempt: number
}

export type AcquireResult =
  | { readonly kind: 'owned'; readonly token: ShardToken }
  /** Somebody else was faster: look again. */
  | { readonly kind: 'lost' }
  /** The row is locked by a commit that does not end. */
  | { readonly kind: 'locked' }

export interface CommitBatch {
  readonly shards: readonly ShardBatch[]
}

/** The rows of one shard; none at all when only its fence is to be checked. Each row appears at most once. */
export interface ShardBatch {
  readonly token: ShardToken
  readonly accounts: readonly AccountWrite[]
  readonly balances: readonly BalanceWrite[]
  readonly keys: readonly AccountKeyWrite[]
  readonly entries: readonly AuditEntryWrite[]
  readonly transactions: readonly TransactionWrite[]
  readonly operations: readonly RecordedOperation[]
}

export interface AccountWrite {
  /** 0: the account is new. */
  readonly previousVersion: number
  readonly account: AccountState
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

/** A decided transaction with its receipt's signature. */
export interface TransactionWrite {
  readonly transaction: Transaction
  readonly receiptKeyId: string
  /** DER in base64, over the canonical receipt. */
  readonly receiptSignature: string
}

export type FailedCause = 'data' | 'invariant' | 'transient' | 'unsent'

export type CommitVerdict =
  /** Shards that are not named are busy or fenced: nothing of theirs was applied. */
  | { readonly kind: 'answered'; readonly committed: ReadonlySet<number> }
  /**
   * Definite: nothing was applied. `invariant`: D2 was broken; `data`: a row that the store cannot take;
   * `unsent`: it did not leave; `transient`: no row is to blame, the same batch may be tried again.
   */
  | { readonly kind: 'failed'; readonly cause: FailedCause; readonly detail: string }
  | { readonly kind: 'unknown'; readonly detail: string }

export interface LookUpQuestion {
  readonly accounts: readonly AccountAddress[]
  readonly keys: readonly KeyAddress[]
}

export interface AccountAddress {
  readonly shardId: number
  readonly accountId: string
}

export interface KeyAddress extends AccountAddress {
  readonly operation: KeyedOperation
  readonly idempotencyKey: string
}

/** Addresses as `addressOf` writes them; what is not there does not exist. */
export interface LookUpAnswer {
  readonly accounts: ReadonlyMap<string, AccountState>
  readonly keys: ReadonlyMap<string, EarlierUse>
}

/** One string for an account; IDs have no space in them. */
export function addressOf(address: AccountAddress): string {
  return `${address.shardId} ${address.accountId}`
}

export function keyAddressOf(address: KeyAddress): string {
  return `${address.shardId} ${address.accountId} ${address.operation} ${address.idempotencyKey}`
}

export interface StoreProbe {
  /** The store's wall clock, milliseconds since 1970. */
  readonly nowMs: number
}

/** Every failure of a call other than `commit`. The cause stays inside infra/. */
export class LedgerStoreUnavailable extends Error {
  override readonly name = 'LedgerStoreUnavailable'
}
