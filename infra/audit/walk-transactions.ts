/**
 * Walks every transaction: its receipt, and that it says what its entry says. IDs grow within a shard: what is entered
 * meanwhile comes at the end of its shard, or is found by the commit that wrote it.
 */
import type { Finding } from '../../runtime/audit/finding.ts'
import type { TransactionName } from '../../runtime/ports/ledger-store.ts'
import { fetchKeysOfAccounts } from './erased.ts'
import {
  agreementFindings,
  erasedFindings,
  transactionFindings,
  type TransactionRow,
  transactionsSql,
} from './transaction-checks.ts'
import type { Look, Seen, Step, Walk } from './walk.ts'

/** The transaction that the next page begins behind. */
export interface TransactionsCursor {
  readonly shardId: number
  readonly txnId: string
}

const PAGE_SIZE = 500

/** $1, $2: after which one; $3: what is counted. */
export const TRANSACTIONS_PAGE = `${transactionsSql(
  `SELECT * FROM transactions WHERE (shard_id, txn_id) > ($1::integer, $2::text)
    ORDER BY shard_id, txn_id LIMIT ${PAGE_SIZE}`,
  '$3',
)}
 ORDER BY t.shard_id, t.txn_id`

export const transactionsWalk: Walk<TransactionsCursor> = {
  name: 'transactions',
  subjects: ['receipts_verify', 'chains_verify'],
  start: { shardId: -1, txnId: '' },
  step,
}

async function step(look: Look, { shardId, txnId }: TransactionsCursor): Promise<Step<TransactionsCursor>> {
  const rows = await look.query<TransactionRow>(TRANSACTIONS_PAGE, [shardId, txnId, look.countBelow])
  const last = rows.at(-1)
  const next = last === undefined ? null : { shardId: last.shard_id, txnId: last.txn_id }
  return { next: rows.length < PAGE_SIZE ? null : next, ...(await seenOf(rows, look)) }
}

/** What was entered is counted; what of it is still pending has no receipt yet, and is named. */
export async function seenOf(rows: readonly TransactionRow[], look: Look): Promise<Seen> {
  const erased = await fetchKeysOfAccounts(
    look,
    rows.map((row) => row.account_id),
  )
  const findings: Finding[] = []
  const pending: TransactionName[] = []
  let counted = 0
  for (const row of rows) {
    if (erased.has(row.account_id)) {
      findings.push(...erasedFindings(row))
      continue
    }
    if (row.counted) counted += 1
    if (row.status === 'pending') {
      pending.push({ shardId: row.shard_id, txnId: row.txn_id })
      findings.push(...agreementFindings(row, look))
      continue
    }
    findings.push(...transactionFindings(row, look))
  }
  return { checked: { receipts_verify: counted }, findings, pending }
}
