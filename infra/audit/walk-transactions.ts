/**
 * Walks every transaction and checks its receipt and its chain entry. IDs grow, so the walk's end reaches transactions
 * entered meanwhile. The tail finds transactions that end meanwhile by the commit that ended them.
 */
import { fetchKeysOfAccounts } from './opened.ts'
import { transactionFindings, type TransactionRow, transactionsSql } from './transaction-checks.ts'
import type { Look, Seen, Step, Walk } from './walk.ts'

/** The next page begins after this transaction. */
export interface TransactionsCursor {
  readonly txnId: string
}

const PAGE_SIZE = 500

/** $1: the ID before the page; $2: bound of `countedSql`. */
export const TRANSACTIONS_PAGE = `${transactionsSql(
  `SELECT * FROM all_transactions WHERE txn_id > $1::text ORDER BY txn_id LIMIT ${PAGE_SIZE}`,
  '$2',
)}
 ORDER BY t.txn_id`

export const transactionsWalk: Walk<TransactionsCursor> = {
  name: 'transactions',
  subjects: ['receipts_verify', 'chains_verify'],
  start: { txnId: '' },
  step,
}

async function step(look: Look, { txnId }: TransactionsCursor): Promise<Step<TransactionsCursor>> {
  const rows = await look.query<TransactionRow>(TRANSACTIONS_PAGE, [txnId, look.countBelow])
  const last = rows.at(-1)
  const next = last === undefined || rows.length < PAGE_SIZE ? null : { txnId: last.txn_id }
  return { next, ...(await seenOf(rows, look)) }
}

/** Skips transactions of erased accounts: they cannot be opened, and are not counted. */
export async function seenOf(rows: readonly TransactionRow[], look: Look): Promise<Seen> {
  const erased = await fetchKeysOfAccounts(look, rows)
  const there = rows.filter((row) => !erased.has(row.account_id))
  return {
    checked: { receipts_verify: there.filter(({ counted }) => counted).length },
    findings: there.flatMap((row) => transactionFindings(row, look)),
  }
}
