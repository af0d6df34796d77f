import type { SettlementGroup, Transaction } from './generated/api-types.ts'

/** A transaction whose status no longer changes. */
export type FinalTransaction = Transaction & { readonly status: 'completed' | 'failed' }
/** A group whose status no longer changes. */
export type FinalGroup = SettlementGroup & { readonly status: 'settled' | 'reverted' | 'linked' }

export function isFinal(transaction: Transaction): transaction is FinalTransaction {
  return transaction.status === 'completed' || transaction.status === 'failed'
}

export function isFinalGroup(group: SettlementGroup): group is FinalGroup {
  return group.status === 'settled' || group.status === 'reverted' || group.status === 'linked'
}
