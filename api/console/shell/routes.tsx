import type { ComponentChildren } from 'preact'
import { AccountPage } from '../pages/account/account.tsx'
import { AccountsPage } from '../pages/account/accounts.tsx'
import { GroupPage } from '../pages/group/group.tsx'
import { GroupsPage } from '../pages/group/groups.tsx'
import { HolderPage } from '../pages/holder/holder.tsx'
import { NftClassPage } from '../pages/nft/class.tsx'
import { NftClassesPage } from '../pages/nft/classes.tsx'
import { NftPage } from '../pages/nft/nft.tsx'
import { KeysPage } from '../pages/operation/keys.tsx'
import { ShardsPage } from '../pages/operation/shards.tsx'
import { WebhookPage } from '../pages/operation/webhook.tsx'
import { WebhooksPage } from '../pages/operation/webhooks.tsx'
import { OverviewPage } from '../pages/overview/overview.tsx'
import { TokenPage } from '../pages/token/token.tsx'
import { TokensPage } from '../pages/token/tokens.tsx'
import { TransactionPage } from '../pages/transaction/transaction.tsx'
import { TransactionsPage } from '../pages/transaction/transactions.tsx'
import { Page } from '../parts/page.tsx'
import { hrefOf, type Place } from '../session/place.ts'

type Route = (rest: readonly string[], query: Place['query']) => ComponentChildren

/** By the first segment of the place. */
const ROUTES: Readonly<Record<string, Route>> = {
  accounts: ([id, tab]) => (id === undefined ? <AccountsPage /> : <AccountPage accountId={id} tab={tab} />),
  transactions: ([id], query) =>
    id === undefined ? <TransactionsPage query={query} /> : <TransactionPage txnId={id} />,
  groups: ([id]) => (id === undefined ? <GroupsPage /> : <GroupPage groupId={id} />),
  tokens: ([id]) => (id === undefined ? <TokensPage /> : <TokenPage tokenId={id} />),
  nfts([classId, instanceId]) {
    if (classId === undefined) return <NftClassesPage />
    return instanceId === undefined ? (
      <NftClassPage classId={classId} />
    ) : (
      <NftPage classId={classId} instanceId={instanceId} />
    )
  },
  shards: () => <ShardsPage />,
  webhooks: ([id]) => (id === undefined ? <WebhooksPage /> : <WebhookPage webhookId={id} />),
  keys: () => <KeysPage />,
  holder: () => <HolderPage />,
}

/** The page of a place. */
export function pageAt({ path, query }: Place): ComponentChildren {
  const [name, ...rest] = path
  if (name === undefined) return <OverviewPage />
  const route = Object.hasOwn(ROUTES, name) ? ROUTES[name] : undefined
  return route === undefined ? <NoSuchPage /> : route(rest, query)
}

function NoSuchPage() {
  return (
    <Page title="No such page">
      <p>
        The console has no page at this address. <a href={hrefOf([])}>Go to the overview</a>.
      </p>
    </Page>
  )
}
