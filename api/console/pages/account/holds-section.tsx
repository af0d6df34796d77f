import { useState } from 'preact/hooks'
import type { Hold } from '../../../client/index.ts'
import { Choice } from '../../parts/field.tsx'
import { Section } from '../../parts/page.tsx'
import { type Column, PagedTable } from '../../parts/table.tsx'
import { Amount, Id, Status, Time } from '../../parts/text.tsx'
import { useList } from '../../parts/use-pages.ts'
import { hrefOf } from '../../session/place.ts'

const STATUSES = ['active', 'captured', 'released', 'expired'] as const
type HoldStatus = (typeof STATUSES)[number]

const COLUMNS: readonly Column<Hold>[] = [
  { title: 'Hold', cell: ({ hold_id: id }) => <Id value={id} /> },
  { title: 'Beneficiary', cell: ({ to_account_id: id }) => <Id value={id} href={hrefOf(['accounts', id])} /> },
  { title: 'Amount', isNumber: true, cell: ({ amount, token_id: token }) => <Amount value={amount} unit={token} /> },
  { title: 'Captured', isNumber: true, cell: ({ captured }) => <Amount value={captured} /> },
  { title: 'Remaining', isNumber: true, cell: ({ remaining }) => <Amount value={remaining} /> },
  { title: 'Expires', cell: ({ expires_at: time }) => <Time value={time} /> },
  { title: 'Status', cell: ({ status }) => <Status value={status} /> },
]

/** Value that the account reserved for beneficiaries. */
export function HoldsSection({ accountId }: { readonly accountId: string }) {
  const [status, setStatus] = useState<HoldStatus>('active')
  const paged = useList('listHolds', { path: { accountId }, query: { status } })
  return (
    <Section
      title="Holds"
      intro="Value that this account reserved, and that a beneficiary may capture."
      actions={
        <Choice
          label="Holds that are"
          value={status}
          onValue={(value) => setStatus(value as HoldStatus)}
          choices={STATUSES.map((value) => [value, value])}
        />
      }
    >
      <PagedTable
        name="the holds"
        caption={`Holds of ${accountId}`}
        paged={paged}
        columns={COLUMNS}
        keyOf={({ hold_id: id }) => id}
        empty={`There is no hold that is ${status}.`}
      />
    </Section>
  )
}
