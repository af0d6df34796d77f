/**
 * The tables of the simulated database: what is committed, and nothing else.
 *   R1. `check` finds every reason to refuse a write before anything of it is applied: a statement is whole or nothing.
 *   R2. Balances live in rows of their own, as in the real schema: a balance that a batch forgets to write is missing.
 */
import type { AuditEntryWrite, BalanceWrite, ShardBatch, TransactionWrite } from '../../runtime/ports/ledger-store.ts'
import type { AccountAddress, KeyAddress } from '../../runtime/ports/ledger-store.ts'
import { addressOf, keyAddressOf } from '../../runtime/ports/ledger-store.ts'
import { type Answer, type EarlierUse, originalAnswer, type RecordedOperation } from '../../actors/account/outcome.ts'
import type { AccountKey, AccountState, Balance } from '../../actors/account/state.ts'

/** A value that the simulated store cannot take, as PostgreSQL cannot take a NUL in a text. */
export const POISON = 'poison\u0000'

export interface ShardRow {
  epoch: number
  attempt: number
  nodeId: string | null
  session: string | null
}

export interface RowRefusal {
  readonly cause: 'data' | 'invariant'
  readonly detail: string
}

export interface Tables {
  readonly accounts: ReadonlyMap<string, AccountState>
  readonly balances: ReadonlyMap<string, ReadonlyMap<string, Balance>>
  readonly keys: ReadonlyMap<string, readonly AccountKey[]>
  readonly entries: ReadonlyMap<string, readonly AuditEntryWrite[]>
  readonly transactions: ReadonlyMap<string, TransactionWrite>
  readonly operations: ReadonlyMap<string, RecordedOperation>
}

/** Values that no table takes: they fail the statement as it is read, whatever the fence says (F2). */
export function poisonIn(shards: readonly ShardBatch[]): RowRefusal | undefined {
  for (const { accounts, transactions, operations } of shards) {
    const texts: unknown[] = []
    for (const { account } of accounts) texts.push(account.accountId, account.registeredBy)
    for (const { transaction } of transactions) {
      texts.push(transaction.idempotencyKey, transaction.payload, ...Object.values(transaction.metadata ?? {}))
    }
    for (const operation of operations) texts.push(operation.idempotencyKey)
    if (texts.some((text) => typeof text === 'string' && text.includes('\u0000'))) {
      return { cause: 'data', detail: 'a text that cannot be stored' }
    }
  }
  return undefined
}

export class Rows implements Tables {
  /** Without their balances. */
  readonly accounts = new Map<string, AccountState>()
  readonly balances = new Map<string, Map<string, Balance>>()
  /** In the order in which they came into force. */
  readonly keys = new Map<string, AccountKey[]>()
  readonly entries = new Map<string, AuditEntryWrite[]>()
  /** By key address: the unique index and the table in one. */
  readonly transactions = new Map<string, TransactionWrite>()
  readonly operations = new Map<string, RecordedOperation>()
  private readonly transactionIds = new Set<string>()
  private readonly lastTransactionIds = new Map<number, string>()

  /** What of a broken invariant these writes would show; undefined when nothing. */
  check(shards: readonly ShardBatch[]): RowRefusal | undefined {
    for (const batch of shards) {
      const found = this.checkAccounts(batch) ?? this.checkFacts(batch) ?? checkBalances(batch.balances)
      if (found !== undefined) return found
    }
    return undefined
  }

  apply(shards: readonly ShardBatch[]): void {
    for (const batch of shards) this.applyShard(batch)
  }

  /** The account as a look-up shows it; undefined when it does not exist. */
  account(address: AccountAddress): AccountState | undefined {
    const at = addressOf(address)
    const row = this.accounts.get(at)
    return row === undefined ? undefined : { ...row, balances: new Map(this.balances.get(at)) }
  }

  earlierUse(address: KeyAddress): EarlierUse | undefined {
    const at = keyAddressOf(address)
    const used = address.operation === 'transaction' ? this.transactions.get(at) : undefined
    if (used !== undefined) return this.useOf(address, used.transaction, acceptedAnswer(used))
    const recorded = this.operations.get(at)
    if (recorded === undefined) return undefined
    return this.useOf(address, recorded, originalAnswer(recorded))
  }

  lastTransactionId(shardId: number): string | null {
    return this.lastTransactionIds.get(shardId) ?? null
  }

  /** What is committed now for one shard: what a statement sees whose snapshot is this old. */
  snapshotOf(shardId: number): Rows {
    const copy = new Rows()
    const lead = `${shardId} `
    const take = <T>(from: Map<string, T>, to: Map<string, T>, clone: (value: T) => T): void => {
      for (const [at, value] of from) if (at.startsWith(lead)) to.set(at, clone(value))
    }
    take(this.accounts, copy.accounts, (value) => value)
    take(this.balances, copy.balances, (value) => new Map(value))
    take(this.keys, copy.keys, (value) => [...value])
    take(this.transactions, copy.transactions, (value) => value)
    take(this.operations, copy.operations, (value) => value)
    const last = this.lastTransactionIds.get(shardId)
    if (last !== undefined) copy.lastTransactionIds.set(shardId, last)
    return copy
  }

  private useOf(
    address: AccountAddress,
    use: { readonly payloadHash: string; readonly keyId: string },
    answer: Answer,
  ): EarlierUse | undefined {
    const key = this.keys.get(addressOf(address))?.find((candidate) => candidate.keyId === use.keyId)
    if (key === undefined) throw new Error(`a key that was never registered is named at ${addressOf(address)}`)
    return { payloadHash: use.payloadHash, key, answer }
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
        return { cause: 'invariant', detail: `${at}: computed from version ${previousVersion}, stored is ${stored}` }
      }
    }
    return undefined
  }

  private checkFacts(batch: ShardBatch): RowRefusal | undefined {
    const { shardId } = batch.token
    for (const entry of batch.entries) {
      const at = addressOf({ shardId, accountId: entry.accountId })
      if ((this.entries.get(at) ?? []).some((known) => known.sequence === entry.sequence)) {
        return { cause: 'invariant', detail: `${at}: entry ${entry.sequence} exists` }
      }
    }
    const added = new Set<string>()
    for (const { transaction } of batch.transactions) {
      const at = keyAddressOf({ ...transaction, shardId, operation: 'transaction' })
      if (this.transactionIds.has(transaction.txnId) || this.transactions.has(at) || added.has(at)) {
        return { cause: 'invariant', detail: `${at}: the transaction or its key exists` }
      }
      added.add(at)
    }
    for (const operation of batch.operations) {
      const at = keyAddressOf({ ...operation, shardId })
      if (this.operations.has(at)) return { cause: 'invariant', detail: `${at}: the operation is recorded` }
    }
    return undefined
  }

  private applyShard(batch: ShardBatch): void {
    const { shardId } = batch.token
    const addressIn = (accountId: string): string => addressOf({ shardId, accountId })
    for (const { account } of batch.accounts) {
      this.accounts.set(addressIn(account.accountId), { ...account, balances: new Map() })
    }
    for (const { accountId, tokenId, balance } of batch.balances) {
      const at = addressIn(accountId)
      this.balances.set(at, (this.balances.get(at) ?? new Map<string, Balance>()).set(tokenId, balance))
    }
    for (const { accountId, key } of batch.keys) push(this.keys, addressIn(accountId), key)
    for (const entry of batch.entries) push(this.entries, addressIn(entry.accountId), entry)
    for (const write of batch.transactions) {
      const { transaction } = write
      this.transactions.set(keyAddressOf({ ...transaction, shardId, operation: 'transaction' }), write)
      this.transactionIds.add(transaction.txnId)
      const last = this.lastTransactionIds.get(shardId)
      if (last === undefined || last < transaction.txnId) this.lastTransactionIds.set(shardId, transaction.txnId)
    }
    for (const operation of batch.operations) this.operations.set(keyAddressOf({ ...operation, shardId }), operation)
  }
}

function push<T>(table: Map<string, T[]>, at: string, value: T): void {
  const list = table.get(at)
  if (list === undefined) table.set(at, [value])
  else list.push(value)
}

/** The original's receipt, as a repeat is told it. */
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

function checkBalances(writes: readonly BalanceWrite[]): RowRefusal | undefined {
  for (const { accountId, balance, reserved, incoming } of writes.map((write) => ({ ...write, ...write.balance }))) {
    if (balance.isNegative() || reserved.isNegative() || incoming.isNegative() || reserved.greaterThan(balance)) {
      return { cause: 'data', detail: `${accountId}: a balance that the table does not take` }
    }
  }
  return undefined
}
