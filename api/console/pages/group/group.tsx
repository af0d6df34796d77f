import type { GroupLeg, SettlementGroup } from '../../../client/index.ts'
import { codeText } from '../../parts/figures.ts'
import { LoadedView } from '../../parts/loaded-view.tsx'
import { Fields, Page, Section } from '../../parts/page.tsx'
import { type Column, PagedTable, Table } from '../../parts/table.tsx'
import { Amount, Id, Status, Text, Time } from '../../parts/text.tsx'
import { useLoad } from '../../parts/use-load.ts'
import { useList } from '../../parts/use-pages.ts'
import { VerifyButton } from '../../parts/verify-button.tsx'
import { groupFinding } from '../../proofs/group-finding.ts'
import { hrefOf } from '../../session/place.ts'
import { useSession } from '../../session/session.ts'
import { AssetAmount, GROUPED_COLUMNS } from '../transaction/transaction-columns.tsx'
import { GroupDrawing } from './group-drawing.tsx'

const COLUMNS: readonly Column<GroupLeg>[] = [
  { title: 'Account', cell: ({ account_id: id }) => <Id value={id} href={hrefOf(['accounts', id])} /> },
  { title: 'Type', cell: ({ type, boundary }) => `${type}${boundary === true ? ' (outside)' : ''}` },
  {
    title: 'To',
    cell: ({ to_account_id: id }) =>
      id === undefined ? <span class="quiet">–</span> : <Id value={id} href={hrefOf(['accounts', id])} />,
  },
  { title: 'Amount', isNumber: true, cell: (leg) => <AssetAmount of={leg} /> },
  { title: 'Status', cell: ({ leg_status: status }) => <Status value={status} /> },
  {
    title: 'Transaction',
    cell: ({ txn_id: id }) =>
      id === undefined ? <span class="quiet">not yet</span> : <Id value={id} href={hrefOf(['transactions', id])} />,
  },
]

export function GroupPage({ groupId }: { readonly groupId: string }) {
  const { client } = useSession()
  const { loaded, reload } = useLoad(
    (signal) => client.call('getSettlementGroup', { path: { groupId }, signal }),
    [client, groupId],
  )
  return (
    <Page
      title={`Settlement group ${groupId}`}
      heading={<Id value={groupId} />}
      crumbs={[{ label: 'Settlement groups', href: hrefOf(['groups']) }]}
      actions={
        <button type="button" onClick={reload}>
          Look again
        </button>
      }
    >
      <LoadedView of={loaded} name="the group">
        {(group) => <GroupView group={group} />}
      </LoadedView>
    </Page>
  )
}

function GroupView({ group }: { readonly group: SettlementGroup }) {
  const { status, legs, failure, net, balanced, partial_failures: partial, terms_hash: terms } = group
  return (
    <>
      <Section title="Group">
        <Fields
          rows={[
            ['Status', <Status key="status" value={status} />],
            ['Legs', status === 'linked' ? undefined : `${legs.length} of ${group.expected_legs}`],
            ['Hash of the terms', terms && <Id key="terms" value={terms} />],
            ['Balanced', balanced === undefined ? undefined : balanced ? 'yes' : 'no'],
            ['Registered', group.created_at && <Time key="created" value={group.created_at} />],
            ['Due', group.due_at && <Time key="due" value={group.due_at} />],
            ['Final', group.finished_at && <Time key="finished" value={group.finished_at} />],
          ]}
        />
        {failure !== undefined && (
          <p class="notice bad">
            <span>
              <strong>Failed: {codeText(failure.code)}.</strong> <Text value={failure.detail} />
            </span>
          </p>
        )}
        {partial.map(({ txn_id: id, code, detail }) => (
          <p key={id} class="notice bad">
            <span>
              <Id value={id} href={hrefOf(['transactions', id])} /> {codeText(code)}: <Text value={detail} />
            </span>
          </p>
        ))}
        {net !== undefined && net.length > 0 && (
          <p>
            Net:{' '}
            {net.map((one) => (
              <Amount key={one.token_id ?? one.instance_id} value={one.amount} unit={one.token_id ?? one.instance_id} />
            ))}
          </p>
        )}
      </Section>
      {status === 'linked' ? <LinkedTransactions groupId={group.group_id} /> : <Legs group={group} />}
    </>
  )
}

/** A group without terms, which only links transactions. */
function LinkedTransactions({ groupId }: { readonly groupId: string }) {
  const paged = useList('listGroupTransactions', { path: { groupId } })
  return (
    <Section
      title="Transactions"
      intro="Transactions with this group ID. The ledger decides each of them on its own, because the group has no terms."
    >
      <PagedTable
        name="the transactions"
        caption="Transactions of the group"
        paged={paged}
        columns={GROUPED_COLUMNS}
        keyOf={({ txn_id: id }) => id}
        empty="No transaction has this group ID."
      />
    </Section>
  )
}

function Legs({ group }: { readonly group: SettlementGroup }) {
  const { client, keySet } = useSession()
  const { legs } = group
  return (
    <Section title="Legs" intro="All of them complete together, or none stays.">
      {legs.length > 0 && <GroupDrawing legs={legs} />}
      <VerifyButton
        label="Verify the legs"
        subject={group}
        verify={(signal) => groupFinding(group, keySet, (txnId) => client.receipt(txnId, { signal }))}
      />
      <Table
        caption="Legs of the group"
        columns={COLUMNS}
        rows={legs}
        keyOf={(leg) => `${leg.txn_id ?? ''} ${legs.indexOf(leg)}`}
      />
    </Section>
  )
}
