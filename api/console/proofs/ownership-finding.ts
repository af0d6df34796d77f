import { type KeySet, type OwnershipEntry, type Receipt, verifyReceipt } from '../../client/index.ts'
import { type Finding, findingOf, KEYS_UNPROVED } from './finding.ts'

export interface OwnershipClaim {
  readonly classId: string
  readonly instanceId: string
  /** The last owner, as the ledger shows it. */
  readonly owner: string
  /** From the mint on. */
  readonly history: readonly OwnershipEntry[]
}

const UNPROVED = [
  'That no later transfer exists: the ledger could leave it out. The owner’s audit chain shows whether the NFT left.',
  KEYS_UNPROVED,
]

/** Whether a receipt proves each change of owner. `receiptOf`: by transaction. */
export async function ownershipFinding(
  { classId, instanceId, owner, history }: OwnershipClaim,
  keySet: KeySet,
  receiptOf: (txnId: string) => Promise<Receipt>,
): Promise<Finding> {
  const proved: string[] = []
  let holder: string | null = null
  for (const [index, entry] of history.entries()) {
    const place = `Entry ${index + 1} of the history (${entry.txn_id})`
    if (entry.from !== holder) return changed(place, `its sender is not the owner before it, ${holder ?? 'no owner'}`)
    const given = await receiptOf(entry.txn_id)
    const verdict = await verifyReceipt(given, keySet)
    if (!verdict.ok) return findingOf(verdict, `The receipt of ${place}`, [])
    const problem = mismatch(given, entry, classId, instanceId)
    if (problem !== undefined) return changed(place, problem)
    proved.push(
      entry.from === null ? `${entry.to} got the NFT when it was minted.` : `${entry.from} gave it to ${entry.to}.`,
    )
    holder = entry.to
  }
  if (holder !== owner) return changed('The owner', `the history ends with ${holder ?? 'no owner'}, not with ${owner}`)
  return {
    outcome: 'verified',
    proved: [`The ledger signed a receipt for each of ${history.length} changes of owner.`, ...proved],
    unproved: UNPROVED,
  }
}

function mismatch(
  { receipt }: Receipt,
  { from, to, txn_id: txnId }: OwnershipEntry,
  classId: string,
  instanceId: string,
): string | undefined {
  if (receipt.txn_id !== txnId) return 'its receipt is of another transaction'
  if (receipt.status !== 'completed') return 'its transaction failed'
  const isOfNft = [receipt, receipt.receive].some(
    (part) => part?.class_id === classId && part.instance_id === instanceId,
  )
  if (!isOfNft) return 'its receipt is of another NFT'
  const parties = [receipt.account_id, receipt.to_account_id, receipt.from_account_id]
  if (from === null ? receipt.type !== 'mint' : !parties.includes(from)) return 'its receipt does not name this sender'
  if (receipt.to_account_id !== undefined && receipt.to_account_id !== to) return 'its receipt names another receiver'
  return undefined
}

function changed(place: string, problem: string): Finding {
  return { outcome: 'tampered', problem: `${place}: ${problem}.`, proved: [], unproved: [] }
}
