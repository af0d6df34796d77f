/** A shard's part of a batch as rows: each actor once, in its final state. */
import type { AccountState } from '../../../actors/account/state.ts'
import { balanceOf } from '../../../actors/account/state.ts'
import type { Transaction } from '../../../actors/account/transaction.ts'
import { formatQuantity } from '../../../actors/money.ts'
import type { AnyState } from '../../../actors/step-actor.ts'
import { appendTo } from '../../common/append-to.ts'
import type { ReceiptWrite, ShardBatch, TransactionChange } from '../../ports/ledger-store.ts'
import { accountIn, type ShardDraft } from '../shard/draft.ts'

/** Final transactions of a draft, which get receipts, in the order of `rowsOf`. */
export function processedIn(draft: ShardDraft) {
  return [...draft.transactions.filter(({ status }) => status !== 'pending'), ...draft.finished.values()]
}

/** `nextReceipt` returns the receipts of `processedIn`, one by one. */
export function rowsOf(draft: ShardDraft, nextReceipt: () => ReceiptWrite): ShardBatch {
  const { incarnation, keys, entries, operations, erased, nftEvents, outbox, refunds } = draft
  const transactions = draft.transactions.map((transaction: Transaction) => ({
    transaction,
    receipt: transaction.status === 'pending' ? null : nextReceipt(),
  }))
  return {
    token: incarnation.token,
    ...actorRows(draft),
    balances: balanceRows(draft),
    keys,
    entries,
    transactions,
    transactionChanges: transactionChanges(draft, nextReceipt),
    refunds: [...refunds.values()],
    operations,
    ...holdRows(draft),
    erased,
    nftEvents,
    outbox,
    sent: [...draft.sent].map(([target, sent]) => ({ target, sent })),
    marks: [...draft.marks].map(([source, mark]) => ({ source, mark })),
    boundary: [...draft.boundary].map(([tokenId, { credited, debited }]) => ({
      tokenId,
      credited: formatQuantity(credited),
      debited: formatQuantity(debited),
    })),
  }
}

function actorRows({ incarnation, changed, balances, holds }: ShardDraft): Pick<ShardBatch, 'accounts' | 'actors'> {
  const tokenIds = new Map<string, string[]>()
  for (const { accountId, tokenId } of balances.values()) appendTo(tokenIds, accountId, tokenId)
  const holdIds = new Map<string, string[]>()
  for (const { accountId, holdId } of holds.values()) appendTo(holdIds, accountId, holdId)
  const accounts: ShardBatch['accounts'][number][] = []
  const actors: ShardBatch['actors'][number][] = []
  for (const [key, { actor, state }] of changed) {
    const previous = incarnation.residents.get(key)?.state ?? null
    const previousVersion = previous?.version ?? 0
    if (actor.kind === 'account') {
      if (!isAccount(state)) continue
      const parts = { tokenIds: tokenIds.get(actor.id) ?? [], holdIds: holdIds.get(actor.id) ?? [] }
      if (!isAccount(previous)) accounts.push({ previousVersion, account: state })
      else accounts.push({ previousVersion, account: state, since: { previous, ...parts } })
    } else if (state === null || !isAccount(state)) {
      // An actor created and deleted within one batch has no row.
      if (previous !== null || state !== null) actors.push({ address: actor, previousVersion, state })
    }
  }
  return { accounts, actors }
}

function isAccount(state: AnyState | null): state is AccountState {
  return state?.kind === 'account'
}

function balanceRows(draft: ShardDraft): ShardBatch['balances'] {
  const balances: ShardBatch['balances'][number][] = []
  for (const { accountId, tokenId } of draft.balances.values()) {
    const account = accountIn(draft, accountId)
    if (account !== undefined) balances.push({ accountId, tokenId, balance: balanceOf(account, tokenId) })
  }
  return balances
}

function holdRows(draft: ShardDraft): Pick<ShardBatch, 'holds' | 'removedHolds'> {
  const holds: ShardBatch['holds'][number][] = []
  const removedHolds: ShardBatch['removedHolds'][number][] = []
  for (const { accountId, holdId } of draft.holds.values()) {
    const hold = accountIn(draft, accountId)?.holds.get(holdId)
    if (hold === undefined) removedHolds.push({ accountId, holdId })
    else holds.push({ accountId, holdId, hold })
  }
  return { holds, removedHolds }
}

function transactionChanges(
  { finished, compensatedBy }: ShardDraft,
  nextReceipt: () => ReceiptWrite,
): TransactionChange[] {
  const changes = [...finished.values()].map((transaction): TransactionChange => {
    const { txnId } = transaction
    return {
      txnId,
      finished: { transaction, receipt: nextReceipt() },
      compensatedBy: compensatedBy.get(txnId) ?? null,
    }
  })
  for (const [txnId, by] of compensatedBy) {
    if (!finished.has(txnId)) changes.push({ txnId, finished: null, compensatedBy: by })
  }
  return changes
}
