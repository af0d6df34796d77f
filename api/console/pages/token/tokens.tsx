import type { FungibleToken, LiabilitiesAssertion } from '../../../client/index.ts'
import { verifyAssertion } from '../../../client/index.ts'
import { useState } from 'preact/hooks'
import { LoadedView } from '../../parts/loaded-view.tsx'
import { Fields, Page, Section } from '../../parts/page.tsx'
import { type Column, PagedTable, Table } from '../../parts/table.tsx'
import { Amount, Id, Text, Time } from '../../parts/text.tsx'
import { useLoad } from '../../parts/use-load.ts'
import { useList } from '../../parts/use-pages.ts'
import { VerifyButton } from '../../parts/verify-button.tsx'
import { findingOf, KEYS_UNPROVED } from '../../proofs/finding.ts'
import { hrefOf } from '../../session/place.ts'
import { useSession } from '../../session/session.ts'

const COLUMNS: readonly Column<FungibleToken>[] = [
  { title: 'Token', cell: ({ token_id: id }) => <Id value={id} href={hrefOf(['tokens', id])} /> },
  { title: 'Total supply', isNumber: true, cell: ({ total_supply: supply }) => <Amount value={supply} /> },
  { title: 'Decimals', isNumber: true, cell: ({ decimals }) => decimals },
  { title: 'Issuer', cell: ({ issuer }) => <Id value={issuer} href={hrefOf(['accounts', issuer])} /> },
  { title: 'Registered', cell: ({ created_at: time }) => <Time value={time} /> },
]

export function TokensPage() {
  const paged = useList('listFungibleTokens')
  return (
    <Page title="Tokens" intro="Fungible assets with an issuer. The ledger’s own unit, BASE, has none.">
      <Section title="All tokens">
        <PagedTable
          name="the tokens"
          caption="Tokens"
          paged={paged}
          columns={COLUMNS}
          keyOf={({ token_id: id }) => id}
          empty="No token is registered yet. A client registers one with POST /v1/fungible-tokens."
        />
      </Section>
      <LiabilitiesSection />
    </Page>
  )
}

const UNPROVED = [
  'That the operator has assets for these liabilities: the ledger knows only what it owes.',
  'That every account is counted: each account’s page verifies its own share.',
  KEYS_UNPROVED,
]

/** On demand: it reads every balance of the ledger. */
function LiabilitiesSection() {
  const { client, clientId } = useSession()
  const [count, setCount] = useState(0)
  const { loaded } = useLoad(
    async (signal) =>
      count === 0 ? undefined : client.call('proveLiabilities', { body: { requester: clientId }, signal }),
    [client, count],
  )
  return (
    <Section
      title="Liabilities"
      intro="The sum of all balances, counted now and signed by the ledger."
      actions={
        <button
          type="button"
          disabled={count > 0 && loaded.state === 'loading'}
          onClick={() => setCount((before) => before + 1)}
        >
          Count the liabilities
        </button>
      }
    >
      {count > 0 && (
        <LoadedView of={loaded} name="the liabilities">
          {(assertion) => assertion !== undefined && <Liabilities assertion={assertion} />}
        </LoadedView>
      )}
    </Section>
  )
}

function Liabilities({ assertion }: { readonly assertion: LiabilitiesAssertion }) {
  const { keySet } = useSession()
  return (
    <>
      <Fields
        rows={[
          ['As of', <Time key="as-of" value={assertion.result.as_of} />],
          ['Root of the tree', <Id key="root" value={assertion.result.merkle_root} />],
        ]}
      />
      <VerifyButton
        label="Verify the liabilities"
        subject={assertion}
        verify={async () => findingOf(await verifyAssertion(assertion, keySet), 'The assertion', UNPROVED)}
      />
      <Table
        caption="Liabilities by token"
        columns={[
          { title: 'Token', cell: ({ token_id: id }) => <Text value={id} /> },
          { title: 'Owed in total', isNumber: true, cell: ({ total }) => <Amount value={total} /> },
        ]}
        rows={assertion.result.by_token}
        keyOf={({ token_id: id }) => id}
      />
    </>
  )
}
