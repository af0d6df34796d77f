import type { Event, Transaction } from '../../client/index.ts'

/** The transaction that an event tells of; undefined for other events, and for erased accounts. */
export function transactionIn({ type, data }: Event): Transaction | undefined {
  const { transaction } = data
  const isGiven = type.startsWith('ledger.transaction.') && typeof transaction === 'object' && transaction !== null
  return isGiven && 'txn_id' in transaction ? (transaction as Transaction) : undefined
}

/** `ledger.transaction.completed.v1` becomes `transaction completed`. */
export function eventTypeText(type: string): string {
  return type
    .replace(/^ledger\./, '')
    .replace(/\.v\d+$/, '')
    .replaceAll(/[._]/g, ' ')
}
