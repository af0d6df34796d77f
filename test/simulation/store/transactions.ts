/** The transactions of the simulated database: entered once, finished at most once, compensated at most once, refunded once final. */
import {
  type CreditName,
  type GroupUse,
  type GroupUseAddress,
  groupUseAddressOf,
  keyAddressOf,
  type ReceiptWrite,
  type ShardBatch,
  type TransactionChange,
  type TransactionName,
  type TransactionWrite,
} from '../../../runtime/ports/ledger-store.ts'
import type { CompensableTransaction, Transaction, TransactionRecord } from '../../../actors/account/transaction.ts'
import { broken, copyShard, itself, push, type RowRefusal } from './table.ts'

export interface StoredTransaction extends TransactionWrite {
  readonly compensatedBy: string | null
  readonly refunded: string | null
}

export class TransactionTable {
  /** By key address: the unique index and the table in one. Rows are replaced, never changed. */
  readonly byKey = new Map<string, StoredTransaction>()
  /** By shard and ID, the key address. */
  private readonly keyAddresses = new Map<string, string>()
  /** By group use, the key addresses of the clients' transactions. */
  private readonly uses = new Map<string, string[]>()
  private readonly lastIds = new Map<number, string>()

  lastId(shardId: number): string | null {
    return this.lastIds.get(shardId) ?? null
  }

  row({ shardId, txnId }: TransactionName): StoredTransaction | undefined {
    return this.byKey.get(this.keyAddresses.get(`${shardId} ${txnId}`) ?? '')
  }

  compensable(name: TransactionName): CompensableTransaction | undefined {
    const row = this.row(name)
    if (row === undefined) return undefined
    const { transaction, compensatedBy, refunded } = row
    return {
      txnId: transaction.txnId,
      accountId: transaction.accountId,
      type: transaction.type,
      amount: transaction.amount,
      tokenId: transaction.tokenId,
      groupId: transaction.groupId,
      status: transaction.status,
      toAccountId: transaction.toAccountId,
      fromAccountId: transaction.fromAccountId,
      receive: transaction.receive === null ? null : { ...transaction.receive },
      compensates: transaction.compensates,
      refunds: transaction.refunds,
      counterTxnId: transaction.counterTxnId,
      compensatedBy,
      refunded,
      termsHash: termsHashIn(transaction.payload),
    }
  }

  /** The account's credit of a transfer, by the transfer's ID or its own. */
  credit({ shardId, accountId, txnId }: CreditName): CompensableTransaction | undefined {
    const key = { shardId, accountId, operation: 'transaction', idempotencyKey: `§transfer ${txnId}` } as const
    const found = this.byKey.get(keyAddressOf(key)) ?? this.row({ shardId, txnId })
    if (found === undefined || found.transaction.accountId !== accountId) return undefined
    const { counterTxnId, idempotencyKey } = found.transaction
    if (idempotencyKey !== `§transfer ${counterTxnId}`) return undefined
    return this.compensable({ shardId, txnId: found.transaction.txnId })
  }

  groupUses(address: GroupUseAddress & GroupUse): readonly GroupUse[] {
    const rows = (this.uses.get(groupUseAddressOf(address)) ?? []).map((at) => this.byKey.get(at)?.transaction)
    const uses = new Map<string, GroupUse>()
    for (const row of rows) {
      if (row === undefined) continue
      if (row.type !== address.type || row.tokenId !== address.tokenId) continue
      uses.set(`${row.type} ${row.tokenId}`, { type: row.type, tokenId: row.tokenId })
    }
    return [...uses.values()]
  }

  check(batch: ShardBatch): RowRefusal | undefined {
    const { shardId } = batch.token
    const added = new Set<string>()
    for (const { transaction, receipt } of batch.transactions) {
      const at = keyAddressOf({ ...transaction, shardId, operation: 'transaction' })
      const name = `${shardId} ${transaction.txnId}`
      if (this.keyAddresses.has(name) || this.byKey.has(at) || added.has(at) || added.has(name)) {
        return broken(`${at}: the transaction or its key exists`)
      }
      if (!isWhole(transaction, receipt)) return broken(`${name}: final without its receipt, or pending with one`)
      added.add(at).add(name)
    }
    const changed = new Set<string>()
    for (const change of batch.transactionChanges) {
      const refused = changed.has(change.txnId) ? 'changed twice' : this.refusal(shardId, change)
      if (refused !== undefined) return broken(`${shardId} ${change.txnId}: ${refused}`)
      changed.add(change.txnId)
    }
    for (const { txnId, accountId } of batch.refunds) {
      const row = this.row({ shardId, txnId })
      if (row === undefined || row.transaction.status === 'pending') return broken(`${txnId}: refunded, and not final`)
      if (changed.has(txnId)) return broken(`${txnId}: refunded and changed in one batch`)
      if (row.transaction.accountId !== accountId) return broken(`${txnId}: refunded by another account`)
    }
    return undefined
  }

  apply(batch: ShardBatch): void {
    const { shardId } = batch.token
    for (const write of batch.transactions) this.enter(shardId, write)
    for (const { txnId, finished, compensatedBy } of batch.transactionChanges) {
      const at = this.keyAddresses.get(`${shardId} ${txnId}`) ?? ''
      const row = this.byKey.get(at)
      if (row === undefined) throw new Error(`${txnId} was not checked`)
      this.byKey.set(at, {
        transaction: finished === null ? row.transaction : endOf(row.transaction, finished.transaction),
        receipt: finished === null ? row.receipt : finished.receipt,
        compensatedBy: compensatedBy ?? row.compensatedBy,
        refunded: row.refunded,
      })
    }
    for (const { txnId, refunded } of batch.refunds) {
      const at = this.keyAddresses.get(`${shardId} ${txnId}`) ?? ''
      const row = this.byKey.get(at)
      if (row === undefined) throw new Error(`${txnId} was not checked`)
      this.byKey.set(at, { ...row, refunded })
    }
  }

  copyShard(shardId: number, copy: TransactionTable): void {
    copyShard(this.byKey, copy.byKey, shardId, itself)
    copyShard(this.keyAddresses, copy.keyAddresses, shardId, itself)
    copyShard(this.uses, copy.uses, shardId, (value) => [...value])
    const last = this.lastIds.get(shardId)
    if (last !== undefined) copy.lastIds.set(shardId, last)
  }

  private enter(shardId: number, write: TransactionWrite): void {
    const { transaction } = write
    const { txnId, accountId, groupId, origin } = transaction
    const at = keyAddressOf({ ...transaction, shardId, operation: 'transaction' })
    this.byKey.set(at, { ...write, compensatedBy: null, refunded: null })
    this.keyAddresses.set(`${shardId} ${txnId}`, at)
    if (groupId !== null && origin === 'client') push(this.uses, groupUseAddressOf({ shardId, accountId, groupId }), at)
    const last = this.lastIds.get(shardId)
    if (last === undefined || last < txnId) this.lastIds.set(shardId, txnId)
  }

  private refusal(shardId: number, { txnId, finished, compensatedBy }: TransactionChange): string | undefined {
    const row = this.row({ shardId, txnId })
    if (row === undefined) return 'changed, and not there'
    if (finished !== null && row.transaction.status !== 'pending') return 'finished, and not pending'
    if (finished !== null && !isWhole(finished.transaction, finished.receipt)) return 'finished, and not final'
    if (compensatedBy !== null && row.compensatedBy !== null) return `compensated by ${row.compensatedBy} already`
    return undefined
  }
}

function isWhole({ status, processedAtMs }: TransactionRecord, receipt: ReceiptWrite | null): boolean {
  return (status === 'pending') === (receipt === null) && (status === 'pending') === (processedAtMs === null)
}

/** An end changes only some columns: the others keep the values of the entry. */
function endOf(row: Transaction, end: TransactionRecord): Transaction {
  const { status, failure, counterTxnId, processedAtMs, sequence, previousHash, auditHash, entry } = end
  return { ...row, status, failure, counterTxnId, processedAtMs, sequence, previousHash, auditHash, entry }
}

/** The client's signed payload makes a submission a leg of a registered group: 64 hexadecimal digits. */
function termsHashIn(payload: string): string | null {
  const fields = JSON.parse(payload) as { readonly terms_hash?: string }
  return fields.terms_hash?.slice('sha256:'.length) ?? null
}
