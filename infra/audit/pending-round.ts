/**
 * Transactions that were pending when they were looked at are looked at again, some at a time, round after round (T3 of
 * the tail). One that completed is left to the tail: it has an entry. All of them were counted when they were entered.
 */
import type { Finding } from '../../runtime/audit/finding.ts'
import type { TransactionName } from '../../runtime/ports/ledger-store.ts'
import { fetchKeysOfAccounts } from './erased.ts'
import { agreementFindings, erasedFindings, namedTransactions, transactionFindings } from './transaction-checks.ts'
import type { Look } from './walk.ts'

const PAGE_SIZE = 300

const REMEMBERED = `
SELECT shard_id, txn_id FROM audit_pending WHERE (shard_id, txn_id) > ($1::integer, $2::text)
 ORDER BY shard_id, txn_id LIMIT ${PAGE_SIZE}`

export interface SeenAgain {
  readonly findings: readonly Finding[]
  /** Those that need not be remembered any more. */
  readonly final: readonly TransactionName[]
  /** The last one that was looked at; null at the end of a round. */
  readonly last: TransactionName | null
}

/** From the one after `after` on; null: from the first. */
export async function lookAgain(look: Look, after: TransactionName | null): Promise<SeenAgain> {
  const remembered = await look.query<{ shard_id: number; txn_id: string }>(REMEMBERED, [
    after?.shardId ?? -1,
    after?.txnId ?? '',
  ])
  const names = remembered.map(({ shard_id: shardId, txn_id: txnId }): TransactionName => ({ shardId, txnId }))
  const last = names.at(-1)
  if (last === undefined) return { findings: [], final: [], last: null }
  const rows = await namedTransactions(look, names)
  const erased = await fetchKeysOfAccounts(
    look,
    rows.map((row) => row.account_id),
  )
  const found = new Map(rows.map((row) => [row.txn_id, row]))
  const findings: Finding[] = []
  const final: TransactionName[] = []
  for (const { shardId, txnId } of names) {
    const row = found.get(txnId)
    if (row?.status === 'pending') {
      if (!erased.has(row.account_id)) findings.push(...agreementFindings(row, look))
      continue
    }
    final.push({ shardId, txnId })
    if (row === undefined) {
      findings.push({ subject: 'chains_verify', place: `transaction ${txnId}`, problem: 'it is gone' })
    } else if (erased.has(row.account_id)) {
      findings.push(...erasedFindings(row))
    } else if (row.status === 'failed') {
      findings.push(...transactionFindings(row, look))
    }
  }
  return { findings, final, last: names.length < PAGE_SIZE ? null : last }
}
