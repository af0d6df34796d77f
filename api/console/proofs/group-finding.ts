import { type GroupLeg, type KeySet, type Receipt, type SettlementGroup, verifyReceipt } from '../../client/index.ts'
import { type Finding, findingOf, KEYS_UNPROVED } from './finding.ts'

const UNPROVED = [
  'That the group settled as a whole: receipts prove each leg, and the chain of each account proves when its balance moved.',
  KEYS_UNPROVED,
]
const FIELDS = ['account_id', 'type', 'amount', 'token_id', 'class_id', 'instance_id', 'to_account_id'] as const

/** Whether a receipt proves each leg that has completed. `receiptOf`: by transaction. */
export async function groupFinding(
  { group_id: groupId, legs }: SettlementGroup,
  keySet: KeySet,
  receiptOf: (txnId: string) => Promise<Receipt>,
): Promise<Finding> {
  const proved: string[] = []
  for (const [index, leg] of legs.entries()) {
    if (leg.txn_id === undefined || leg.leg_status === 'expected') continue
    const place = `Leg ${index + 1} (${leg.txn_id})`
    const given = await receiptOf(leg.txn_id)
    const verdict = await verifyReceipt(given, keySet)
    if (!verdict.ok) return findingOf(verdict, `The receipt of ${place}`, [])
    const problem = mismatch(leg, given, groupId)
    if (problem !== undefined) {
      return {
        outcome: 'tampered',
        problem: `${place}: its ${problem} is not that of its receipt.`,
        proved: [],
        unproved: [],
      }
    }
    proved.push(
      `The ledger signed that ${given.receipt.type} of ${given.receipt.amount} by ${leg.account_id} is ${given.receipt.status}.`,
    )
  }
  if (proved.length === 0) {
    return { outcome: 'unproved', problem: 'No leg is final yet, so there is no receipt.', proved, unproved: [] }
  }
  return { outcome: 'verified', proved, unproved: UNPROVED }
}

function mismatch(leg: GroupLeg, { receipt }: Receipt, groupId: string): string | undefined {
  if (receipt.txn_id !== leg.txn_id) return 'transaction'
  if (receipt.group_id !== groupId) return 'group'
  return FIELDS.find((name) => leg[name] !== undefined && leg[name] !== receipt[name])
}
