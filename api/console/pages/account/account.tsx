import type { Account } from '../../../client/index.ts'
import { LoadedView } from '../../parts/loaded-view.tsx'
import { Fields, Page, Section } from '../../parts/page.tsx'
import { Id, Status, Text, Time } from '../../parts/text.tsx'
import { useLoad } from '../../parts/use-load.ts'
import { hrefOf } from '../../session/place.ts'
import { useSession } from '../../session/session.ts'
import { filterIn } from '../transaction/filter.ts'
import { TransactionList } from '../transaction/transactions.tsx'
import { BalancesSection } from './balances-section.tsx'
import { ChainSection } from './chain-section.tsx'
import { HoldsSection } from './holds-section.tsx'
import { LiabilitySection } from './liability-section.tsx'
import { OwnedNftsSection } from './owned-nfts-section.tsx'
import { StatementSection } from './statement-section.tsx'

const TABS = {
  balances: 'Balances',
  statement: 'Statement',
  transactions: 'Transactions',
  holds: 'Holds',
  nfts: 'NFTs',
  chain: 'Audit chain',
} as const
type Tab = keyof typeof TABS

/** `tab`: from the address. */
export function AccountPage({ accountId, tab }: { readonly accountId: string; readonly tab: string | undefined }) {
  const { client } = useSession()
  const shown: Tab = tab !== undefined && Object.hasOwn(TABS, tab) ? (tab as Tab) : 'balances'
  const { loaded } = useLoad(
    (signal) => client.call('getAccount', { path: { accountId }, signal }),
    [client, accountId],
  )
  return (
    <Page
      title={`Account ${accountId}`}
      heading={<Text value={accountId} />}
      crumbs={[{ label: 'Accounts', href: hrefOf(['accounts']) }]}
    >
      <LoadedView of={loaded} name="the account">
        {(account) => (
          <>
            <Summary account={account} />
            <nav class="tabs" aria-label="Parts of the account">
              {Object.entries(TABS).map(([name, label]) => (
                <a
                  key={name}
                  href={hrefOf(['accounts', accountId, name])}
                  aria-current={name === shown ? 'page' : undefined}
                >
                  {label}
                </a>
              ))}
            </nav>
            <AccountTab account={account} tab={shown} />
          </>
        )}
      </LoadedView>
    </Page>
  )
}

function AccountTab({ account, tab }: { readonly account: Account; readonly tab: Tab }) {
  const { account_id: accountId } = account
  switch (tab) {
    case 'balances':
      return (
        <>
          <BalancesSection accountId={accountId} />
          <LiabilitySection accountId={accountId} />
        </>
      )
    case 'statement':
      return <StatementSection accountId={accountId} />
    case 'transactions':
      return (
        <Section title="Transactions">
          <TransactionList filter={filterIn(new URLSearchParams({ account_id: accountId }))} />
        </Section>
      )
    case 'holds':
      return <HoldsSection accountId={accountId} />
    case 'nfts':
      return <OwnedNftsSection accountId={accountId} />
    case 'chain':
      return <ChainSection account={account} />
  }
}

function Summary({ account }: { readonly account: Account }) {
  const { status, erased, incoming, shard_id: shard, key_id: keyId, created_at: created, updated_at: updated } = account
  return (
    <Section title="Account">
      <Fields
        rows={[
          ['Status', <Status key="status" value={erased === true ? 'erased' : status} />],
          ['Incoming value', incoming === 'accept' ? 'accepted' : 'refused'],
          ['Key', keyId === null ? 'none' : <Id key="key" value={keyId} />],
          ['Shard', shard],
          ['Registered', <Time key="created" value={created} />],
          ['Last change', <Time key="updated" value={updated} />],
        ]}
      />
    </Section>
  )
}
