/** Resources as the interface shows them: member order is the order in which they are read. */
import { showHash } from '../../actors/audit-chain.ts'
import type { JsonObject } from '../../actors/canonical-json.ts'
import type { AccountView } from '../../actors/account/outcome.ts'
import { balancesAfter, receiveMembers } from '../../actors/account/record.ts'
import type { GroupLegView, GroupView } from '../../actors/group/state.ts'
import type { LegTerms } from '../../actors/message.ts'
import { assetMembers } from '../../actors/nft-id.ts'
import { isoTimestamp } from '../../actors/timestamp.ts'
import type { TokenView } from '../../actors/token/state.ts'
import type {
  BalanceAt,
  BalanceView,
  ChainEntryView,
  Movement,
  TransactionView,
} from '../../runtime/ports/ledger-reads.ts'

export function accountMembers(account: AccountView, jwkOf: (publicKey: string) => object): object {
  return {
    account_id: account.accountId,
    status: account.status === 'erased' ? 'closed' : account.status,
    ...(account.status === 'erased' ? { erased: true } : {}),
    incoming: account.incoming,
    public_key: account.key === null ? null : jwkOf(account.key.publicKey),
    key_id: account.key?.keyId ?? null,
    shard_id: account.shardId,
    sequence: account.sequence,
    audit_hash: showHash(account.auditHash),
    created_at: isoTimestamp(account.createdAtMs),
    updated_at: isoTimestamp(account.updatedAtMs),
  }
}

export function balanceMembers(balance: BalanceView): object {
  return {
    token_id: balance.tokenId,
    token_class: balance.tokenClass,
    balance: balance.balance,
    available: balance.available,
    incoming: balance.incoming,
    decimals: balance.decimals,
    updated_at: isoTimestamp(balance.updatedAtMs),
  }
}

/** `atMs`: the time that was asked for. */
export function balanceAtMembers(balance: BalanceAt, atMs: number): object {
  return { ...balanceMembers(balance), as_of: isoTimestamp(Math.floor(atMs)), sequence: balance.sequence }
}

export function movementMembers(movement: Movement): JsonObject {
  return {
    sequence: movement.sequence,
    txn_id: movement.txnId,
    type: movement.type,
    amount: movement.amount,
    balance_after: movement.balanceAfter,
    timestamp: isoTimestamp(movement.atMs),
  }
}

export function auditEntryMembers(entry: ChainEntryView): object {
  return {
    sequence: entry.sequence,
    txn_id: entry.txnId,
    previous_hash: showHash(entry.previousHash),
    audit_hash: showHash(entry.auditHash),
    payload: entry.payload,
    ...(entry.payload === null ? { erased: true } : {}),
  }
}

/** As lists show it. */
export function transactionMembers(transaction: TransactionView): object {
  return {
    txn_id: transaction.txnId,
    account_id: transaction.accountId,
    amount: transaction.amount,
    type: transaction.type,
    ...assetMembers(transaction.tokenId),
    status: transaction.status,
    shard_id: transaction.shardId,
    created_at: isoTimestamp(transaction.createdAtMs),
  }
}

/** As the list of a group shows it. */
export function groupLegMembers(transaction: TransactionView): object {
  return {
    txn_id: transaction.txnId,
    account_id: transaction.accountId,
    amount: transaction.amount,
    type: transaction.type,
    ...assetMembers(transaction.tokenId),
    status: transaction.status,
  }
}

/** The detail: what does not apply is left out, but `audit_hash`, which is null unless the transaction completed. */
export function transactionDetailMembers(transaction: TransactionView): object {
  return {
    txn_id: transaction.txnId,
    account_id: transaction.accountId,
    amount: transaction.amount,
    type: transaction.type,
    status: transaction.status,
    shard_id: transaction.shardId,
    ...assetMembers(transaction.tokenId),
    created_at: isoTimestamp(transaction.createdAtMs),
    audit_hash:
      transaction.status === 'completed' && transaction.auditHash !== null ? showHash(transaction.auditHash) : null,
    ...(transaction.entry === null ? {} : balancesAfter(transaction.entry)),
    origin: transaction.origin,
    ...present('group_id', transaction.groupId),
    ...(transaction.metadata === null ? {} : { metadata: transaction.metadata }),
    ...present('to_account_id', transaction.toAccountId),
    ...present('from_account_id', transaction.fromAccountId),
    ...receiveMembers(transaction),
    ...(transaction.processedAtMs === null ? {} : { processed_at: isoTimestamp(transaction.processedAtMs) }),
    ...present('compensates', transaction.compensates),
    ...present('compensated_by', transaction.compensatedBy),
    ...present('refunds', transaction.refunds),
    ...present('hold_id', transaction.holdId ?? null),
    ...present('refunded_amount', transaction.refunded),
    ...(transaction.failure === null
      ? {}
      : { failure: { code: transaction.failure.code, detail: transaction.failure.detail } }),
  }
}

export function tokenMembers(token: TokenView): object {
  return {
    token_id: token.tokenId,
    symbol: token.tokenId,
    decimals: token.decimals,
    issuer: token.issuer,
    total_supply: token.totalSupply,
    created_at: isoTimestamp(token.createdAtMs),
  }
}

export function groupMembers(group: GroupView): object {
  return {
    group_id: group.groupId,
    status: group.status,
    terms_hash: group.termsHash === null ? null : showHash(group.termsHash),
    expected_legs: group.legs.length,
    legs: group.legs.map(legMembers),
    compensations: group.compensations.map(({ compensates, txnId }) => ({ compensates, txn_id: txnId })),
    partial_failures: group.partialFailures.map(({ txnId, code, detail }) => ({ txn_id: txnId, code, detail })),
    ...(group.failure === null ? {} : { failure: { code: group.failure.code, detail: group.failure.detail } }),
    created_at: timeOrNull(group.createdAtMs),
    due_at: timeOrNull(group.dueAtMs),
    finished_at: timeOrNull(group.finishedAtMs),
  }
}

/** One leg as registered. */
export function termsMembers(terms: LegTerms): object {
  return {
    account_id: terms.accountId,
    type: terms.type,
    amount: terms.amount,
    ...assetMembers(terms.tokenId),
    ...present('to_account_id', terms.toAccountId),
    ...(terms.boundary ? { boundary: true } : {}),
  }
}

function legMembers(leg: GroupLegView): object {
  return {
    ...termsMembers(leg),
    leg_status: leg.status,
    ...present('txn_id', leg.txnId),
  }
}

/** One member, or none. */
function present(name: string, value: string | null): Readonly<Record<string, string>> {
  return value === null ? {} : { [name]: value }
}

export function timeOrNull(timeMs: number | null): string | null {
  return timeMs === null ? null : isoTimestamp(timeMs)
}
