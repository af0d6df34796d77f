/** Amounts of transactions for searches: from memory, or read and opened without the rest of the row. */
import { accountKeyName } from '../../vault/key-name.ts'
import { erasedAmong } from '../rows/erased-accounts.ts'
import { fetchKeys } from '../rows/opened-rows.ts'
import { type PlaceRow, rowsAt } from '../rows/transaction-rows.ts'
import { openAmount, TRANSACTION_ROW_COLUMNS, type TransactionRow } from '../rows/transaction-document.ts'
import type { Look } from './transactions-query-filters.ts'

export interface SealedAmounts<Row extends PlaceRow> {
  /** Accounts of these transactions that were erased: what is theirs cannot be opened any more. */
  readonly erased: ReadonlySet<string>
  /** Of one of them. Opens it where it is not remembered. Throws UnreadableRow. */
  readonly amountOf: (row: Row) => string
}

/** Of rows that the same look has found. Throws UnreadableRow. */
export async function readAmounts<Row extends PlaceRow>(
  { sql, vault, amounts }: Look,
  found: readonly Row[],
): Promise<SealedAmounts<Row>> {
  const known = new Map<Row, string>()
  for (const row of found) {
    const remembered = amounts.get(row.txn_id)
    // An amount that is remembered for another account does not count.
    if (remembered?.ref === row.account_id) known.set(row, remembered.amount)
  }
  const unknown = found.filter((row) => !known.has(row))
  const rowOf = await rowsAt<TransactionRow>(sql, unknown, TRANSACTION_ROW_COLUMNS)
  const keyNames = unknown.map((row) => accountKeyName(row.account_id))
  await fetchKeys(sql, keyNames, vault)
  const refs = found.map((row) => row.account_id)
  return {
    erased: await erasedAmong(sql, refs, vault),
    amountOf(row) {
      const remembered = known.get(row)
      if (remembered !== undefined) return remembered
      const amount = openAmount(rowOf(row), vault)
      amounts.set(row.txn_id, { ref: row.account_id, amount })
      return amount
    },
  }
}
