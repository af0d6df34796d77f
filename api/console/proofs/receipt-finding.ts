import type { AuditEntry, KeySet, Receipt, Transaction } from '../../client/index.ts'
import { verifyChain } from '../../client/index.ts'
import { verifyReceipt } from '../../client/index.ts'
import { type Finding, findingOf, KEYS_UNPROVED } from './finding.ts'

export interface ReceiptContext {
  /** The account's whole chain; undefined: it is not checked. */
  readonly entries?: readonly AuditEntry[]
  /** The order, as it was signed in this browser. */
  readonly order?: object
  /** As the page shows it: it must say the same as the receipt. */
  readonly shown?: Transaction
}

const SHOWN_FIELDS = [
  'txn_id',
  'account_id',
  'type',
  'amount',
  'token_id',
  'class_id',
  'instance_id',
  'status',
  'to_account_id',
  'from_account_id',
  'balance_after',
  'available_after',
  'created_at',
  'processed_at',
  'audit_hash',
] as const

const ORDER_UNPROVED =
  'That the account signed exactly this order: compare submission_hash with the SHA-256 of the order that you signed.'

export async function receiptFinding(receipt: Receipt, keySet: KeySet, context: ReceiptContext): Promise<Finding> {
  const { entries, order, shown } = context
  const chain = entries === undefined ? undefined : await verifyChain(entries)
  if (chain?.ok === false) return findingOf(chain, 'The audit chain of the account', [])
  const found = findingOf(await verifyReceipt(receipt, keySet, { chain, order }), 'The receipt', [
    ...(order === undefined ? [ORDER_UNPROVED] : []),
    KEYS_UNPROVED,
  ])
  if (found.outcome === 'verified' && shown !== undefined) {
    const different = SHOWN_FIELDS.find((name) => (shown[name] ?? null) !== (receipt.receipt[name] ?? null))
    if (different !== undefined) {
      const problem = `The transaction on this page: its ${different} is not that of the signed receipt.`
      return { outcome: 'tampered', problem, proved: [], unproved: [] }
    }
  }
  return found.outcome === 'verified' && chain !== undefined
    ? { ...found, proved: [...found.proved, ...chain.proved] }
    : found
}
