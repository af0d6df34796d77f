import { useState } from 'preact/hooks'
import type { TokenBalance } from '../../../client/index.ts'
import { collected } from '../../../client/collected.ts'
import { Field } from '../../parts/field.tsx'
import { LoadedView } from '../../parts/loaded-view.tsx'
import { Section } from '../../parts/page.tsx'
import { type Column, Table } from '../../parts/table.tsx'
import { Amount, Id, Time } from '../../parts/text.tsx'
import { useLoad } from '../../parts/use-load.ts'
import { VerifyButton } from '../../parts/verify-button.tsx'
import { balanceFinding } from '../../proofs/balance-finding.ts'
import { hrefOf } from '../../session/place.ts'
import { useSession } from '../../session/session.ts'

const COLUMNS: readonly Column<TokenBalance>[] = [
  {
    title: 'Token',
    cell: ({ token_id: id }) => (id === 'BASE' ? id : <Id value={id} href={hrefOf(['tokens', id])} />),
  },
  { title: 'Balance', isNumber: true, cell: ({ balance }) => <Amount value={balance} /> },
  { title: 'Available', isNumber: true, cell: ({ available }) => <Amount value={available} /> },
  { title: 'Incoming', isNumber: true, cell: ({ incoming }) => <Amount value={incoming} /> },
  { title: 'Last change', cell: ({ updated_at: time }) => <Time value={time} /> },
]

export function BalancesSection({ accountId }: { readonly accountId: string }) {
  const { client } = useSession()
  const [asOf, setAsOf] = useState('')
  const { loaded } = useLoad(
    async (signal) => {
      const path = { accountId }
      // Before the balances: each of them is that of this entry, or of a later one.
      const { audit_hash: tip } = await client.call('getAccountState', { path, signal })
      const query = { page_size: 1_000, ...(asOf === '' ? {} : { as_of: `${asOf}Z` }) }
      return {
        tip,
        isPast: asOf !== '',
        balances: await collected(client.list('listBalances', { path, query, signal })),
      }
    },
    [client, accountId, asOf],
  )
  return (
    <Section title="Balances" actions={<AsOf onAsOf={setAsOf} />}>
      <LoadedView of={loaded} name="the balances">
        {({ tip, isPast, balances }) => (
          <>
            <Table
              caption={`Balances of ${accountId}`}
              columns={COLUMNS}
              rows={balances}
              keyOf={({ token_id: id }) => id}
              empty={isPast ? 'The account held nothing at this time.' : 'The account holds nothing.'}
            />
            {!isPast && (
              <VerifyButton
                label="Verify the balances"
                subject={balances}
                verify={async (signal) =>
                  balanceFinding(await client.auditChain(accountId, { signal }), { accountId, tip }, balances)
                }
              />
            )}
          </>
        )}
      </LoadedView>
    </Section>
  )
}

/** A time in UTC at which the balances are shown; empty: now. */
function AsOf({ onAsOf }: { readonly onAsOf: (time: string) => void }) {
  const [time, setTime] = useState('')
  return (
    <form
      class="row"
      onSubmit={(event) => {
        event.preventDefault()
        onAsOf(time)
      }}
    >
      <Field label="At a time (UTC)" type="datetime-local" value={time} onValue={setTime} isOptional />
      <button type="submit">Show</button>
    </form>
  )
}
