import type { AuditEntry, KeySet, Receipt, Transaction } from '../../client/index.ts'
import { verifyChain, verifyReceipt } from '../../client/index.ts'
import { type Finding, findingOf, KEYS_UNPROVED, tampered } from './finding.ts'

export interface ReceiptContext {
  /** The account's whole chain; undefined: it is not checked. */
  readonly entries?: readonly AuditEntry[]
  /** The order, as it was signed in this browser. */
  readonly order?: object
  /** As the page shows it: it must say the same as the receipt. */
  readonly shown?: Transaction
  /** The transaction that the reader asked for. */
  readonly txnId?: string
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
  'receive',
  'group_id',
  'hold_id',
  'origin',
  'compensates',
  'refunds',
  'shard_id',
  'failure',
  'metadata',
] as const

const ORDER_UNPROVED =
  'That the account signed exactly this order: compare submission_hash with the SHA-256 of the order that you signed.'

/** Changes after the receipt: it cannot sign them. */
const LATER_UNPROVED = 'Whether a later transaction undid or refunded this one: the receipt is older.'

export async function receiptFinding(receipt: Receipt, keySet: KeySet, context: ReceiptContext): Promise<Finding> {
  const { entries, order, shown, txnId } = context
  const chain = entries === undefined ? undefined : await verifyChain(entries)
  if (chain?.ok === false) return findingOf(chain, 'The audit chain of the account', [])
  const found = findingOf(await verifyReceipt(receipt, keySet, { chain, order }), 'The receipt', [
    ...(order === undefined ? [ORDER_UNPROVED] : []),
    ...(shown === undefined ? [] : [LATER_UNPROVED]),
    KEYS_UNPROVED,
  ])
  if (found.outcome !== 'verified') return found
  if (txnId !== undefined && receipt.receipt.txn_id !== txnId) {
    return tampered(`The receipt is of ${receipt.receipt.txn_id}, but this page is of ${txnId}.`)
  }
  const different = shown && SHOWN_FIELDS.find((name) => isOther(shown[name], receipt.receipt[name]))
  if (different !== undefined) {
    return tampered(`The transaction on this page: its ${different} is not that of the signed receipt.`)
  }
  return chain === undefined ? found : { ...found, proved: [...found.proved, ...chain.proved] }
}

function isOther(shown: unknown, signed: unknown): boolean {
  return textOf(shown) !== textOf(signed)
}

/** The same for members in any order; their values are strings. */
function textOf(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value ?? null)
  return JSON.stringify(Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1)))
}
