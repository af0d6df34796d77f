import type { GroupedTransaction, TransactionSummary } from '../../../client/index.ts'
import type { Column } from '../../parts/table.tsx'
import { Amount, Id, Status, Text, Time } from '../../parts/text.tsx'
import { hrefOf } from '../../session/place.ts'

/** Of a transaction in the list of its group. */
export const GROUPED_COLUMNS: readonly Column<GroupedTransaction>[] = [
  { title: 'Transaction', cell: ({ txn_id: id }) => <Id value={id} href={hrefOf(['transactions', id])} /> },
  { title: 'Account', cell: ({ account_id: id }) => <Id value={id} href={hrefOf(['accounts', id])} /> },
  { title: 'Type', cell: ({ type }) => type },
  { title: 'Amount', isNumber: true, cell: (transaction) => <AssetAmount of={transaction} /> },
  { title: 'Status', cell: ({ status }) => <Status value={status} /> },
]

export const TRANSACTION_COLUMNS: readonly Column<TransactionSummary>[] = [
  { title: 'Time', cell: ({ created_at: time }) => <Time value={time} /> },
  ...GROUPED_COLUMNS,
]

type Asset = Pick<TransactionSummary, 'amount' | 'token_id' | 'class_id' | 'instance_id'>

/** An amount of a token, or the link to an NFT. */
export function AssetAmount({
  of: { amount, token_id: token, class_id: classId, instance_id: instance },
}: {
  readonly of: Asset
}) {
  if (classId === undefined || instance === undefined) return <Amount value={amount} unit={token} />
  return (
    <a href={hrefOf(['nfts', classId, instance])}>
      NFT <Text value={instance} limit={40} isInLink />
    </a>
  )
}
