/** Rows of `transactions` as reads show them. */
import type postgres from 'postgres'
import type { TransactionView } from '../../../runtime/ports/ledger-reads.ts'
import { UnreadableRow } from '../../vault/unreadable-row.ts'
import { arrayLiteral } from '../connection/array-literal.ts'
import { takeRows } from '../connection/prepared.ts'
import { PLACES } from './row-sealer.ts'
import type { OpenedTransaction, TransactionRow } from './transaction-document.ts'

export const PLACE_COLUMNS = ['shard_id', 'txn_id', 'account_id'] as const satisfies readonly (keyof TransactionRow)[]

export type PlaceRow = Pick<TransactionRow, (typeof PLACE_COLUMNS)[number]>

/**
 * Reads these columns of rows whose places the same look has found. The returned function throws UnreadableRow if a place has no matching row: the indexes differ, or an
 * attacker added a row with the same ID in another shard.
 */
export async function rowsAt<Row extends PlaceRow>(
  sql: postgres.ISql,
  places: readonly PlaceRow[],
  columns: readonly (keyof Row & string)[],
): Promise<(place: PlaceRow) => Row> {
  const txnIds = places.map((place) => place.txn_id)
  const names: readonly string[] = columns
  const read =
    txnIds.length === 0
      ? []
      : await takeRows(sql<Row[]>`
          SELECT ${sql(names)} FROM all_transactions WHERE txn_id = ANY(${arrayLiteral('text', txnIds)}::text[])`)
  const rows = new Map(read.map((row: Row) => [keyOf(row), row]))
  return (place) => {
    const row = rows.get(keyOf(place))
    if (row === undefined || row.account_id !== place.account_id) {
      const { shard_id: shardId, account_id: ref, txn_id: txnId } = place
      throw new UnreadableRow(PLACES.transaction(shardId, ref, txnId), 'an index says otherwise')
    }
    return row
  }
}

function keyOf({ shard_id: shardId, txn_id: txnId }: PlaceRow): string {
  return `${shardId} ${txnId}`
}

export function transactionViewOf(row: TransactionRow, { transaction, refunded }: OpenedTransaction): TransactionView {
  return {
    txnId: transaction.txnId,
    accountId: transaction.accountId,
    shardId: row.shard_id,
    type: transaction.type,
    amount: transaction.amount,
    tokenId: transaction.tokenId,
    groupId: transaction.groupId,
    status: transaction.status,
    failure: transaction.failure,
    origin: transaction.origin,
    metadata: transaction.metadata,
    toAccountId: transaction.toAccountId,
    fromAccountId: transaction.fromAccountId,
    receive: transaction.receive,
    compensates: transaction.compensates,
    compensatedBy: row.compensated_by,
    refunds: transaction.refunds,
    refunded,
    ...(transaction.holdId === undefined ? undefined : { holdId: transaction.holdId }),
    createdAtMs: transaction.createdAtMs,
    processedAtMs: transaction.processedAtMs,
    auditHash: transaction.auditHash,
    entry: transaction.entry,
  }
}
