/**
 * The committed tables of the simulated database.
 *   R1. `check` finds every reason to refuse a write before anything of it is applied: a statement is atomic.
 *   R2. Balances and holds live in rows of their own, as in the real schema: a row that a batch forgets is missing.
 *   R3. A document of the real schema is a sealed copy here, which readers cannot change.
 */
import { Balances } from '../../../actors/account/balances.ts'
import { Holds } from '../../../actors/account/holds.ts'
import type { AuditEntryWrite, BalanceWrite, HoldName, ShardBatch } from '../../../runtime/ports/ledger-store.ts'
import type { AccountAddress, KeyAddress, TransactionWrite } from '../../../runtime/ports/ledger-store.ts'
import { addressOf, keyAddressOf } from '../../../runtime/ports/ledger-store.ts'
import {
  type Answer,
  type EarlierUse,
  originalAnswer,
  type RecordedOperation,
} from '../../../actors/account/outcome.ts'
import { type AccountKey, type AccountState, type Balance, type Hold, valueOf } from '../../../actors/account/state.ts'
import { actorKey } from '../../../actors/address.ts'
import { ActorTable } from './actors.ts'
import { ChannelTable } from './channels.ts'
import { sealedCopy } from '../cluster/sealed.ts'
import { EventTable } from './events.ts'
import type { StoreRule } from './faults.ts'
import { NftEventTable, textsOf } from './nfts.ts'
import { broken, copyShard, itself, push, type RowRefusal } from './table.ts'
import { type StoredTransaction, TransactionTable } from './transactions.ts'
import { signedUnits, VALUE_PARTS, ValueCount, type ValueSink } from './value.ts'

/** A value that the simulated store refuses, as PostgreSQL refuses a NUL in a text. */
export const POISON = 'poison\u0000'

export interface ShardRow {
  epoch: number
  attempt: number
  nodeId: string | null
  session: string | null
}

export interface Tables {
  readonly accounts: ReadonlyMap<string, AccountState>
  readonly balances: ReadonlyMap<string, ReadonlyMap<string, Balance>>
  readonly keys: ReadonlyMap<string, readonly AccountKey[]>
  readonly entries: ReadonlyMap<string, readonly AuditEntryWrite[]>
  readonly transactions: ReadonlyMap<string, StoredTransaction>
  readonly operations: ReadonlyMap<string, RecordedOperation>
}

/** The value that crossed the boundary of an asset, in whole units of 10^-18. */
export interface BoundaryTotal {
  readonly credited: bigint
  readonly debited: bigint
}

/** Values that every table refuses: they fail the statement when it is read, whatever the fence (F2). */
export function poisonIn(shards: readonly ShardBatch[]): RowRefusal | undefined {
  for (const { accounts, transactions, operations, holds, actors, nftEvents, outbox } of shards) {
    const texts: unknown[] = []
    for (const { account } of accounts) texts.push(account.accountId, account.registeredBy)
    for (const { transaction } of transactions) {
      texts.push(
        transaction.tokenId,
        transaction.idempotencyKey,
        transaction.payload,
        ...Object.values(transaction.metadata ?? {}),
      )
    }
    for (const operation of operations) texts.push(operation.idempotencyKey)
    for (const { holdId } of holds) texts.push(holdId)
    for (const { address, state } of actors) {
      texts.push(address.id)
      if (state?.kind === 'class') texts.push(state.classId, state.name, state.issuer)
      if (state?.kind === 'instance') texts.push(state.owner)
    }
    for (const write of nftEvents) texts.push(...textsOf(write))
    for (const { envelope } of outbox) texts.push(actorKey(envelope.to))
    if (texts.some((text) => typeof text === 'string' && text.includes('\u0000'))) {
      return { cause: 'data', detail: 'a text that cannot be stored' }
    }
  }
  return undefined
}

export class Rows implements Tables {
  /** Without their balances and holds. */
  readonly accounts = new Map<string, AccountState>()
  readonly balances = new Map<string, Map<string, Balance>>()
  /** In the order in which they came into force. */
  readonly keys = new Map<string, AccountKey[]>()
  readonly entries = new Map<string, AuditEntryWrite[]>()
  readonly operations = new Map<string, RecordedOperation>()
  readonly boundary = new Map<string, BoundaryTotal>()
  readonly value = new ValueCount()
  readonly actors = new ActorTable(this.value.add)
  readonly nftEvents = new NftEventTable()
  readonly transactionTable = new TransactionTable()
  readonly channels: ChannelTable
  readonly events: EventTable
  /** By address and hold ID. */
  readonly holds = new Map<string, Map<string, Hold>>()

  private readonly broken: StoreRule | undefined

  constructor(broken?: StoreRule, events = new EventTable(broken)) {
    this.broken = broken
    this.events = events
    this.channels = new ChannelTable({ counted: this.value.add, sentFromRows: broken === 'sentFromRows' })
  }

  /** By key address. */
  get transactions(): ReadonlyMap<string, StoredTransaction> {
    return this.transactionTable.byKey
  }

  /** The broken invariant that these writes show; undefined if there is none. */
  check(shards: readonly ShardBatch[]): RowRefusal | undefined {
    for (const batch of shards) {
      const found =
        checkBalances(batch.balances) ?? (this.broken === 'looksAtPrevious' ? undefined : this.checkPrevious(batch))
      if (found !== undefined) return found
    }
    return undefined
  }

  apply(shards: readonly ShardBatch[]): void {
    for (const batch of shards) {
      this.applyAccounts(batch)
      this.applyHolds(batch)
      this.applyBoundary(batch)
      this.actors.apply(batch)
      this.nftEvents.apply(batch)
      this.transactionTable.apply(batch)
      this.channels.apply(batch)
    }
  }

  /** The account as a look-up shows it; undefined when it does not exist. */
  account(address: AccountAddress): AccountState | undefined {
    const at = addressOf(address)
    const row = this.accounts.get(at)
    if (row === undefined) return undefined
    return { ...row, balances: Balances.of(this.balances.get(at) ?? []), holds: Holds.of(this.holds.get(at) ?? []) }
  }

  /** D7. */
  isErased(address: AccountAddress): boolean {
    return this.accounts.get(addressOf(address))?.status === 'erased'
  }

  earlierUse(address: KeyAddress): EarlierUse | undefined {
    if (this.isErased(address)) return undefined
    const at = keyAddressOf(address)
    const used = address.operation === 'transaction' ? this.transactions.get(at) : undefined
    if (used !== undefined) return this.useOf(address, used.transaction, acceptedAnswer(used))
    const recorded = this.operations.get(at)
    if (recorded === undefined) return undefined
    return this.useOf(address, recorded, originalAnswer(recorded))
  }

  /** The committed rows of one shard: the view of a statement whose snapshot is this old. */
  snapshotOf(shardId: number): Rows {
    const copy = new Rows()
    this.copyShard(shardId, copy)
    return copy
  }

  /** The committed rows of these shards. */
  copy(shardIds: readonly number[]): Rows {
    const copy = new Rows(this.broken, this.events.copy())
    for (const shardId of shardIds) {
      this.copyShard(shardId, copy)
      copyShard(this.entries, copy.entries, shardId, (value) => [...value])
    }
    for (const [tokenId, total] of this.boundary) copy.boundary.set(tokenId, total)
    for (const [tokenId, parts] of this.value.assets()) {
      for (const part of VALUE_PARTS) copy.value.add(part, tokenId, parts[part])
    }
    return copy
  }

  private copyShard(shardId: number, copy: Rows): void {
    copyShard(this.accounts, copy.accounts, shardId, itself)
    copyShard(this.balances, copy.balances, shardId, (value) => new Map(value))
    copyShard(this.holds, copy.holds, shardId, (value) => new Map(value))
    copyShard(this.keys, copy.keys, shardId, (value) => [...value])
    copyShard(this.operations, copy.operations, shardId, itself)
    this.actors.copyShard(shardId, copy.actors)
    this.nftEvents.copyShard(shardId, copy.nftEvents)
    this.transactionTable.copyShard(shardId, copy.transactionTable)
    this.channels.copyShard(shardId, copy.channels)
  }

  private useOf(
    address: AccountAddress,
    use: { readonly payloadHash: string; readonly keyId: string },
    answer: Answer,
  ): EarlierUse | undefined {
    // Not a key of this ledger: it was used on another.
    if (use.keyId === '') return { payloadHash: use.payloadHash, key: { keyId: '', publicKey: '' }, answer }
    const key = this.keys.get(addressOf(address))?.find((candidate) => candidate.keyId === use.keyId)
    if (key === undefined) throw new Error(`an unregistered key is used at ${addressOf(address)}`)
    return { payloadHash: use.payloadHash, key, answer }
  }

  /**
   * Whether each row is written on top of the version that it was computed from (I1b), and new rows do not exist yet.
   */
  private checkPrevious(batch: ShardBatch): RowRefusal | undefined {
    return (
      this.checkAccounts(batch) ??
      this.checkFacts(batch) ??
      this.actors.check(batch) ??
      this.nftEvents.check(batch) ??
      this.transactionTable.check(batch) ??
      this.channels.check(batch)
    )
  }

  private checkAccounts(batch: ShardBatch): RowRefusal | undefined {
    const { shardId } = batch.token
    const seen = new Set<string>()
    for (const { account, previousVersion } of batch.accounts) {
      const at = addressOf({ shardId, accountId: account.accountId })
      const stored = this.accounts.get(at)?.version ?? 0
      if (seen.has(at)) return { cause: 'data', detail: `a row is written twice: ${at}` }
      seen.add(at)
      if (stored !== previousVersion || account.shardId !== shardId) {
        return broken(`${at}: computed from version ${previousVersion}, stored is ${stored}`)
      }
      if (account.nftRoom < 0 || account.nftCount + account.nftRoom < 0) return broken(`${at}: fewer NFTs than none`)
    }
    return undefined
  }

  private checkFacts(batch: ShardBatch): RowRefusal | undefined {
    const { shardId } = batch.token
    for (const entry of batch.entries) {
      const at = addressOf({ shardId, accountId: entry.accountId })
      if ((this.entries.get(at) ?? []).some((known) => known.sequence === entry.sequence)) {
        return broken(`${at}: entry ${entry.sequence} exists`)
      }
    }
    for (const operation of batch.operations) {
      const at = keyAddressOf({ ...operation, shardId })
      if (this.operations.has(at)) return broken(`${at}: the operation is recorded`)
    }
    for (const { tokenId, credited, debited } of batch.boundary) {
      if (signedUnits(credited) < 0n || signedUnits(debited) < 0n)
        return broken(`${tokenId}: less than nothing crossed`)
    }
    return undefined
  }

  private applyAccounts(batch: ShardBatch): void {
    const { shardId } = batch.token
    const addressIn = (accountId: string): string => addressOf({ shardId, accountId })
    for (const { account } of batch.accounts) {
      this.accounts.set(addressIn(account.accountId), { ...account, balances: Balances.NONE, holds: Holds.NONE })
    }
    for (const { accountId, tokenId, balance } of batch.balances) {
      const at = addressIn(accountId)
      const ofAccount = this.balances.get(at) ?? new Map<string, Balance>()
      const before = ofAccount.get(tokenId)?.balance ?? 0n
      this.value.add('balances', tokenId, balance.balance - before)
      this.balances.set(at, ofAccount.set(tokenId, balance))
    }
    for (const accountId of batch.erased) this.balances.delete(addressIn(accountId))
    for (const { accountId, key } of batch.keys) push(this.keys, addressIn(accountId), key)
    for (const entry of batch.entries) push(this.entries, addressIn(entry.accountId), entry)
    for (const operation of batch.operations) this.operations.set(keyAddressOf({ ...operation, shardId }), operation)
  }

  private applyHolds({ token: { shardId }, holds, removedHolds }: ShardBatch): void {
    for (const name of removedHolds) this.removeHold(shardId, name)
    for (const { accountId, holdId, hold } of holds) {
      this.removeHold(shardId, { accountId, holdId })
      const at = addressOf({ shardId, accountId })
      this.holds.set(at, (this.holds.get(at) ?? new Map<string, Hold>()).set(holdId, sealedCopy(hold)))
      countHold(this.value.add, hold, 1n)
    }
  }

  private removeHold(shardId: number, { accountId, holdId }: HoldName): void {
    const ofAccount = this.holds.get(addressOf({ shardId, accountId }))
    const hold = ofAccount?.get(holdId)
    if (hold === undefined) return
    countHold(this.value.add, hold, -1n)
    ofAccount?.delete(holdId)
  }

  private applyBoundary({ boundary }: ShardBatch): void {
    for (const crossing of boundary) {
      const credited = signedUnits(crossing.credited)
      const debited = signedUnits(crossing.debited)
      const before = this.boundary.get(crossing.tokenId) ?? { credited: 0n, debited: 0n }
      const after = { credited: before.credited + credited, debited: before.debited + debited }
      this.boundary.set(crossing.tokenId, after)
      this.value.add('credited', crossing.tokenId, credited)
      this.value.add('debited', crossing.tokenId, debited)
    }
  }
}

function countHold(counted: ValueSink, hold: Hold, sign: bigint): void {
  const value = valueOf(hold)
  if (value !== undefined) counted('held', value.tokenId, sign * value.quantity)
}

/** The original's answer, as a replay receives it. */
function acceptedAnswer({ transaction }: TransactionWrite): Answer {
  return {
    kind: 'accepted',
    receipt: {
      txnId: transaction.txnId,
      accountId: transaction.accountId,
      shardId: transaction.shardId,
      enqueuedAtMs: transaction.createdAtMs,
      groupId: transaction.groupId,
    },
    replayed: false,
    mismatch: false,
  }
}

/** The table's constraints: a write that violates them breaks an invariant. */
function checkBalances(writes: readonly BalanceWrite[]): RowRefusal | undefined {
  for (const { accountId, tokenId, balance: held } of writes) {
    const { balance, reserved, incoming, room } = held
    if ([balance, reserved, incoming, room].some((part) => part < 0n) || reserved > balance) {
      return broken(`${accountId} ${tokenId}: a balance that the table does not take`)
    }
  }
  return undefined
}
