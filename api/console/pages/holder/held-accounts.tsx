import type { TokenBalance } from '../../../client/index.ts'
import { LoadedView } from '../../parts/loaded-view.tsx'
import { Section } from '../../parts/page.tsx'
import { type Column, Table } from '../../parts/table.tsx'
import { Amount, Id } from '../../parts/text.tsx'
import { useLoad } from '../../parts/use-load.ts'
import { hrefOf } from '../../session/place.ts'
import { useSession } from '../../session/session.ts'
import type { HeldAccount } from './held-account.ts'
import { forgetAccount } from './key-store.ts'

interface HeldAccountsProps {
  readonly accounts: readonly HeldAccount[]
  readonly onChange: () => void
}

export function HeldAccounts({ accounts, onChange }: HeldAccountsProps) {
  const forget = (account: HeldAccount): void => {
    const question = `Forget the key of ${account.accountId}? Nothing else has it: the account could not order anything any more.`
    if (confirm(question)) void forgetAccount(account).then(onChange)
  }
  const columns: readonly Column<HeldAccount>[] = [
    { title: 'Account', cell: ({ accountId: id }) => <Id value={id} href={hrefOf(['accounts', id])} /> },
    { title: 'Available', isNumber: true, cell: (account) => <Available account={account} /> },
    { title: 'Key', cell: ({ key }) => <Id value={key.keyId} /> },
    {
      title: 'Actions',
      cell: (account) => (
        <button type="button" class="link" onClick={() => forget(account)}>
          Forget the key<span class="unseen"> of {account.accountId}</span>
        </button>
      ),
    },
  ]
  return (
    <Section title="Accounts of this browser">
      <Table
        caption="Accounts of this browser"
        columns={columns}
        rows={accounts}
        keyOf={({ accountId }) => accountId}
      />
    </Section>
  )
}

function Available({ account }: { readonly account: HeldAccount }) {
  const { client } = useSession()
  const { accountId } = account
  const { loaded } = useLoad(
    (signal) => client.call('listBalances', { path: { accountId }, query: { page_size: 3 }, signal }),
    // A reload gives another object.
    [client, account],
  )
  return (
    <LoadedView of={loaded} name="balances">
      {({ balances }) =>
        balances.length === 0 ? <span class="quiet">nothing yet</span> : <Amounts balances={balances} />
      }
    </LoadedView>
  )
}

function Amounts({ balances }: { readonly balances: readonly TokenBalance[] }) {
  return (
    <>
      {balances.map(({ token_id: token, available }) => (
        <div key={token}>
          <Amount value={available} unit={token} />
        </div>
      ))}
    </>
  )
}
