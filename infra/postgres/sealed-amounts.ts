/** Amounts of transactions, as searches ask for them: remembered, or read and opened, and nothing else of the row. */
import type postgres from 'postgres'
import { accountKeyName } from '../vault/key-name.ts'
import { arrayLiteral } from './array-literal.ts'
import { erasedAmong } from './erased-accounts.ts'
import type { KnownAmount } from './known-amounts.ts'
import { fetchKeys } from './opened-rows.ts'
import { AMOUNT_COLUMNS, type AmountRow } from './transaction-document.ts'
import { openedAmount } from './transaction-rows.ts'
import type { TransactionPlaces } from './transactions-query-filters.ts'

export interface SealedAmounts {
  /** Accounts of these transactions that were erased: what is theirs cannot be opened any more. */
  readonly erased: ReadonlySet<string>
  /** For an account's reference that stands beside a transaction. */
  readonly refOf: (txnId: string) => string
  /** Opens it where it is not remembered. Throws UnreadableRow. */
  readonly amountOf: (txnId: string) => string
}

interface Candidate {
  readonly txn_id: string
  /** What the row says; what is remembered of another account is not taken for it. */
  readonly account_id?: string
}

/** Of transactions that there are. Throws UnreadableRow. */
export async function readAmounts(
  sql: postgres.ISql,
  candidates: readonly Candidate[],
  { vault, amounts }: TransactionPlaces,
): Promise<SealedAmounts> {
  const known = new Map<string, KnownAmount>()
  const unknown: string[] = []
  for (const { txn_id: txnId, account_id: ref } of candidates) {
    const found = amounts.get(txnId)
    if (found === undefined || (ref !== undefined && ref !== found.ref)) unknown.push(txnId)
    else known.set(txnId, found)
  }
  const rows = new Map((await readRows(sql, unknown)).map((row) => [row.txn_id, row]))
  const refs = [...rows.values()].map((row) => row.account_id)
  await fetchKeys(sql, refs.map(accountKeyName), vault)
  const erased = await erasedAmong(sql, [...refs, ...[...known.values()].map(({ ref }) => ref)], vault)

  function rowOf(txnId: string): AmountRow {
    const row = rows.get(txnId)
    if (row === undefined) throw new Error('a transaction was asked for that was not among the candidates')
    return row
  }

  return {
    erased,
    refOf: (txnId) => known.get(txnId)?.ref ?? rowOf(txnId).account_id,
    amountOf(txnId) {
      const found = known.get(txnId)
      if (found !== undefined) return found.amount
      const row = rowOf(txnId)
      const amount = openedAmount(row, vault)
      amounts.put(txnId, { ref: row.account_id, amount })
      return amount
    },
  }
}

async function readRows(sql: postgres.ISql, txnIds: readonly string[]): Promise<readonly AmountRow[]> {
  if (txnIds.length === 0) return []
  return await sql<AmountRow[]>`
    SELECT ${sql(AMOUNT_COLUMNS)} FROM transactions WHERE txn_id = ANY(${arrayLiteral('text', txnIds)}::text[])`
}
