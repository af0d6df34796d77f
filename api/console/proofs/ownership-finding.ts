import { type KeySet, type NftInstance, type OwnershipEntry, type Receipt, verifyReceipt } from '../../client/index.ts'
import { type Finding, findingOf, KEYS_UNPROVED, tampered } from './finding.ts'

export interface OwnershipClaim {
  readonly classId: string
  readonly instanceId: string
  /** The last owner, as the ledger shows it. */
  readonly owner: string
  readonly status: NftInstance['status']
  /** From the mint on. */
  readonly history: readonly OwnershipEntry[]
}

const UNPROVED = [
  'That no later transfer exists: the ledger could leave it out. The owner’s audit chain shows whether the NFT left.',
  'The list on this page, with its statements and times: the check reads the history of owners instead.',
  KEYS_UNPROVED,
]

/** Whether a receipt proves each change of owner. `receiptOf`: by transaction. */
export async function ownershipFinding(
  { classId, instanceId, owner, status, history }: OwnershipClaim,
  keySet: KeySet,
  receiptOf: (txnId: string) => Promise<Receipt>,
): Promise<Finding> {
  const proved: string[] = []
  let holder: string | null = null
  for (const [index, entry] of history.entries()) {
    const place = `Entry ${index + 1} of the history (${entry.txn_id})`
    if (history[index - 1]?.type === 'burn') return changed(place, 'the NFT was burned before it')
    if (entry.from !== holder) return changed(place, `its sender is not the owner before it, ${holder ?? 'no owner'}`)
    const given = await receiptOf(entry.txn_id)
    const verdict = await verifyReceipt(given, keySet)
    if (!verdict.ok) return findingOf(verdict, `The receipt of ${place}`, [])
    const problem = mismatch(given, entry, classId, instanceId)
    if (problem !== undefined) return changed(place, problem)
    proved.push(
      entry.type === 'burn'
        ? `${entry.to} burned it.`
        : entry.from === null
          ? `${entry.to} got the NFT when it was minted.`
          : `${entry.from} gave it to ${entry.to}.`,
    )
    holder = entry.to
  }
  if ((history.at(-1)?.type === 'burn') !== (status === 'burned')) {
    return changed(
      'The status',
      `the page shows ${status}, but the last change of owner is ${history.at(-1)?.type ?? 'missing'}`,
    )
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
  { from, to, type, txn_id: txnId }: OwnershipEntry,
  classId: string,
  instanceId: string,
): string | undefined {
  if (receipt.txn_id !== txnId) return 'its receipt is of another transaction'
  if (receipt.status !== 'completed') return 'its transaction failed'
  if ((receipt.type === 'mint' || receipt.type === 'burn' ? receipt.type : 'transfer') !== type)
    return `its receipt is of a ${receipt.type}`
  const isNft = (part: Receipt['receipt'] | Receipt['receipt']['receive']): boolean =>
    part?.class_id === classId && part.instance_id === instanceId
  // An exchange gives what its order names to the other party, and brings what is in `receive`.
  const isBrought = receipt.type === 'exchange' && isNft(receipt.receive)
  if (!isBrought && !isNft(receipt)) return 'its receipt is of another NFT'
  const { account_id: account, to_account_id: other } = receipt
  const [sender, receiver] = isBrought ? [other, account] : [account, other ?? account]
  if (from === null ? type !== 'mint' : from !== sender && from !== receipt.from_account_id) {
    return 'its receipt does not name this sender'
  }
  return receiver === to ? undefined : 'its receipt names another receiver'
}

function changed(place: string, problem: string): Finding {
  return tampered(`${place}: ${problem}.`)
}
