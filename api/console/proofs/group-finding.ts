import {
  type GroupLeg,
  type KeySet,
  type Receipt,
  type SettlementGroup,
  verifyReceipt,
  verifyTerms,
} from '../../client/index.ts'
import { outcomeText } from '../../client/verify/verify-receipt.ts'
import { type Finding, findingOf, KEYS_UNPROVED, tampered } from './finding.ts'

const UNPROVED = [
  'That the parties agreed on this hash of the terms: compare it with the one that your order names.',
  'That the group settled as a whole: receipts prove each leg, and the chain of each account proves when its balance moved.',
  KEYS_UNPROVED,
]
const FIELDS = ['account_id', 'type', 'amount', 'token_id', 'class_id', 'instance_id', 'to_account_id'] as const

/** The status of the receipt of a leg. A compensated leg completed before another transaction undid it. */
const RECEIPT_STATUS = { completed: 'completed', compensated: 'completed', failed: 'failed' } as const

/**
 * Whether a receipt proves each leg that is final, and the legs have the hash of the terms. `receiptOf`: by transaction.
 */
export async function groupFinding(
  group: SettlementGroup,
  keySet: KeySet,
  receiptOf: (txnId: string) => Promise<Receipt>,
): Promise<Finding> {
  const { group_id: groupId, legs, expected_legs: expected } = group
  const proved: string[] = []
  const open: string[] = []
  for (const [index, leg] of legs.entries()) {
    if (leg.txn_id === undefined || leg.leg_status === 'expected') {
      open.push(`Leg ${index + 1}: the check has no receipt of it, and the page shows it as ${leg.leg_status}.`)
      continue
    }
    const place = `Leg ${index + 1} (${leg.txn_id})`
    if (legs.slice(0, index).some(({ txn_id: txnId }) => txnId === leg.txn_id)) {
      return tampered(`${place}: another leg shows the same transaction.`)
    }
    const given = await receiptOf(leg.txn_id)
    const verdict = await verifyReceipt(given, keySet)
    if (!verdict.ok) return findingOf(verdict, `The receipt of ${place}`, [])
    const problem = mismatch(leg, given, groupId)
    if (problem !== undefined) {
      return tampered(`${place}: its ${problem} is not that of its receipt.`)
    }
    proved.push(`The ledger signed that leg ${index + 1} is ${given.receipt.status}: ${outcomeText(given.receipt)}.`)
  }
  if (proved.length === 0) {
    return { outcome: 'unproved', problem: 'No leg is final yet, so there is no receipt.', proved, unproved: [] }
  }
  const terms = await verifyTerms(group)
  const isLinked = group.terms_hash === null
  return {
    ...(terms.ok || isLinked
      ? { outcome: 'verified' }
      : { outcome: 'unproved', problem: `The terms of the group: ${terms.problem}.` }),
    proved: [
      `Receipts prove ${proved.length} of ${Math.max(expected, legs.length)} legs.`,
      ...proved,
      ...(terms.ok ? terms.proved : []),
    ],
    unproved: [
      ...(isLinked ? ['That the parties agreed on terms: the group has none.'] : []),
      ...open,
      ...(expected > legs.length ? [`${expected - legs.length} more legs: the page does not show them.`] : []),
      ...(legs.some(({ leg_status: status }) => status === 'compensated')
        ? ['That compensated legs were undone: their receipts are older.']
        : []),
      ...UNPROVED,
    ],
  }
}

function mismatch(leg: GroupLeg, { receipt }: Receipt, groupId: string): string | undefined {
  if (receipt.txn_id !== leg.txn_id) return 'transaction'
  if (receipt.group_id !== groupId) return 'group'
  if (leg.leg_status === 'expected' || receipt.status !== RECEIPT_STATUS[leg.leg_status]) return 'status'
  return FIELDS.find((name) => leg[name] !== receipt[name])
}
