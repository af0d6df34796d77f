/**
 * Visibility of groups, NFTs and attestations for a client that is scoped to accounts (D17). An invisible resource gets the
 * same reply as a missing one.
 *   P1. A registered group is visible as a whole to a client with a leg in it: its terms are one agreement. Transactions
 *       linked under an ID are no agreement: each client sees its own.
 *   P2. An NFT, with its whole history, is visible to its owner and to the issuer of its class.
 *   P3. An attestation is visible to the client that submitted it, to its attester, and to clients that see the NFT.
 */
import type { AccountScope } from '../../actors/account-scope.ts'
import type { GroupView } from '../../actors/group/state.ts'
import type { HoldView } from '../../actors/hold/state.ts'
import type { NftName } from '../../actors/nft-id.ts'
import type { InstanceView } from '../../actors/nft-instance/state.ts'
import type { Attestation } from '../../runtime/ports/attestation-store.ts'
import type {
  LedgerReads,
  SignedReceipt,
  TransactionCursor,
  TransactionQuery,
  TransactionView,
} from '../../runtime/ports/ledger-reads.ts'
import { inTurns } from '../http/in-turns.ts'
import { type EdgeContext, type GuardedCall, pathValue } from './route.ts'
import { type ScannedPage, scanPage, type ScanRequest } from './scan.ts'

export async function seenTransaction(
  reads: Pick<LedgerReads, 'transaction'>,
  scope: AccountScope,
  txnId: string,
): Promise<TransactionView | undefined> {
  const transaction = await reads.transaction(txnId)
  return transaction !== undefined && scope.includes(transaction.accountId) ? transaction : undefined
}

export async function seenReceipt(
  reads: Pick<LedgerReads, 'transaction' | 'receipt'>,
  scope: AccountScope,
  txnId: string,
): Promise<SignedReceipt | undefined> {
  if (scope.whole) return reads.receipt(txnId)
  const [seen, receipt] = await Promise.all([seenTransaction(reads, scope, txnId), reads.receipt(txnId)])
  return seen === undefined ? undefined : receipt
}

/** Every transaction of a group, newest first. */
export const TRANSACTIONS_OF_GROUP = {
  accountId: null,
  createdFromMs: null,
  createdToMs: null,
  type: null,
  tokenId: null,
  tokenClass: null,
  amountMin: null,
  amountMax: null,
  status: null,
  idempotencyKey: null,
  order: 'desc',
  counted: false,
} as const satisfies Partial<TransactionQuery>

/** One page of the transactions of a group that the client may see. */
export function seenOfGroup(
  reads: Pick<LedgerReads, 'transactions'>,
  scope: AccountScope,
  groupId: string,
  page: Pick<ScanRequest<TransactionCursor>, 'after' | 'limit'>,
): Promise<ScannedPage<TransactionView, TransactionCursor>> {
  return scanPage(
    {
      read: async (after: TransactionCursor | null, limit) => {
        const { transactions, next } = await reads.transactions({ ...TRANSACTIONS_OF_GROUP, groupId, limit, after })
        return { rows: transactions, next }
      },
      shown: (rows) => rows.filter(({ accountId }) => scope.includes(accountId)),
    },
    { ...page, counted: false },
  )
}

export async function seenGroup(
  reads: Pick<LedgerReads, 'group' | 'transactions'>,
  scope: AccountScope,
  groupId: string,
): Promise<GroupView | undefined> {
  const group = await reads.group(groupId)
  if (group === undefined || scope.whole) return group
  if (group.status !== 'linked') return group.legs.some((leg) => concerns(scope, leg)) ? group : undefined
  const own = await seenOfGroup(reads, scope, groupId, { after: null, limit: 1 })
  return own.rows.length > 0 ? shownOf(group, scope) : undefined
}

/** For a visible group (P1). Each transaction carries its own outcome. */
export function shownOf(group: GroupView, scope: AccountScope): GroupView {
  if (scope.whole || group.status !== 'linked') return group
  const legs = group.legs.filter((leg) => concerns(scope, leg))
  return { ...group, legs, compensations: [], partialFailures: [] }
}

/** A hold is visible to its payer and to its beneficiary. */
export async function seenHold(
  reads: Pick<LedgerReads, 'hold'>,
  scope: AccountScope,
  holdId: string,
): Promise<HoldView | undefined> {
  const hold = await reads.hold(holdId)
  return hold !== undefined && concerns(scope, hold) ? hold : undefined
}

interface Concerned {
  readonly accountId: string
  readonly toAccountId?: string | null
}

function concerns(scope: AccountScope, { accountId, toAccountId = null }: Concerned): boolean {
  return scope.includes(accountId) || (toAccountId !== null && scope.includes(toAccountId))
}

type NftReads = Pick<LedgerReads, 'instance' | 'nftClass'>

export async function seenInstance(
  reads: NftReads,
  scope: AccountScope,
  { classId, instanceId }: NftName,
): Promise<InstanceView | undefined> {
  const instance = await reads.instance(classId, instanceId)
  if (instance === undefined || scope.includes(instance.owner)) return instance
  return (await issues(reads, scope, classId)) ? instance : undefined
}

/** Whether the class is one whose issuer is inside. */
export async function issues(
  reads: Pick<LedgerReads, 'nftClass'>,
  scope: AccountScope,
  classId: string,
): Promise<boolean> {
  if (scope.whole) return true
  const nftClass = await reads.nftClass(classId)
  return nftClass !== undefined && scope.includes(nftClass.issuer)
}

/** Whether the NFT may be hidden from the client, and is: nothing is read for one that is not scoped. */
export async function isHidden(reads: NftReads, scope: AccountScope, name: NftName): Promise<boolean> {
  return !scope.whole && (await seenInstance(reads, scope, name)) === undefined
}

export interface Viewer {
  readonly scope: AccountScope
  readonly clientId: string
}

export function viewerOf({ caller, scope }: Pick<GuardedCall, 'caller' | 'scope'>): Viewer {
  return { scope, clientId: caller.clientId }
}

/** The attestation of the path, if the client may see it. */
export async function findAttestation(
  { attestations, reads }: Pick<EdgeContext, 'attestations' | 'reads'>,
  call: GuardedCall,
): Promise<Attestation | undefined> {
  const found = await attestations.attestation(pathValue(call, 'attestationId'))
  return found === undefined ? undefined : (await seenAttestations(reads, viewerOf(call), [found]))[0]
}

/** Of these attestations those that are seen. Each NFT is looked for once. */
export async function seenAttestations(
  reads: NftReads,
  { scope, clientId }: Viewer,
  attestations: readonly Attestation[],
): Promise<readonly Attestation[]> {
  const subjects = new Map<string, Promise<boolean>>()
  const isSeen = async (attestation: Attestation): Promise<boolean> => {
    const { attester, submittedBy, subjectClass: classId, subjectInstance: instanceId } = attestation
    if (scope.whole || submittedBy === clientId || scope.includes(attester)) return true
    const subject = JSON.stringify([classId, instanceId])
    const hidden = subjects.get(subject) ?? isHidden(reads, scope, { classId, instanceId })
    subjects.set(subject, hidden)
    return !(await hidden)
  }
  const seen = await inTurns(attestations, isSeen)
  return attestations.filter((_, index) => seen[index] === true)
}
