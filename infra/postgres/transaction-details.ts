/** What few transactions have, as one column: JSON of what is not null, or null. */
import type { TransactionRecord } from '../../actors/account/transaction.ts'

export type TransactionDetails = Pick<TransactionRecord, 'receive' | 'compensates' | 'counterTxnId'>

export function detailsText({ receive, compensates, counterTxnId }: TransactionDetails): string | null {
  if (receive === null && compensates === null && counterTxnId === null) return null
  return JSON.stringify({
    ...(receive === null ? {} : { receive: { tokenId: receive.tokenId, amount: receive.amount } }),
    ...(compensates === null ? {} : { compensates }),
    ...(counterTxnId === null ? {} : { counterTxnId }),
  })
}

export function detailsOf(text: string | null): TransactionDetails {
  const found = text === null ? {} : (JSON.parse(text) as Partial<TransactionDetails>)
  return {
    receive: found.receive ?? null,
    compensates: found.compensates ?? null,
    counterTxnId: found.counterTxnId ?? null,
  }
}
