import { LoadedView } from '../../parts/loaded-view.tsx'
import { Page } from '../../parts/page.tsx'
import { useLoad } from '../../parts/use-load.ts'
import { permits, useSession } from '../../session/session.ts'
import { CreditForm } from './credit-form.tsx'
import { HeldAccounts } from './held-accounts.tsx'
import type { HeldAccount } from './held-account.ts'
import { haveValue } from './have-value.ts'
import { heldAccounts } from './key-store.ts'
import { RegisterForm } from './register-form.tsx'
import { TransferForm } from './transfer-form.tsx'

interface HolderFormsProps {
  readonly accounts: readonly HeldAccount[]
  readonly onChange: () => void
}

/** The main button is that of the next step to a transfer: two accounts, value, the transfer. */
function HolderForms({ accounts, onChange }: HolderFormsProps) {
  const { client } = useSession()
  const { loaded } = useLoad((signal) => haveValue(client, accounts, signal), [client, accounts])
  const hasValue = loaded.state === 'done' ? loaded.value : undefined
  const hasTwo = accounts.length >= 2
  return (
    <>
      {accounts.length > 0 && <HeldAccounts accounts={accounts} onChange={onChange} />}
      <RegisterForm accounts={accounts} onRegistered={onChange} />
      {accounts.length > 0 && (
        <CreditForm accounts={accounts} isNext={hasTwo && hasValue === false} onDone={onChange} />
      )}
      {accounts.length > 0 && (
        <TransferForm accounts={accounts} isNext={hasTwo && hasValue === true} onDone={onChange} />
      )}
    </>
  )
}

/** The page of an account holder: keys are made and used here, and never leave the browser. */
export function HolderPage() {
  const session = useSession()
  const { loaded, reload } = useLoad(() => heldAccounts(session.ledgerId), [session.ledgerId])
  return (
    <Page
      title="Your accounts"
      intro="Accounts whose keys this browser made. A key signs here, and no program can read it: neither this page nor the ledger."
    >
      {permits(session, 'transactor') ? (
        <LoadedView of={loaded} name="your accounts">
          {(accounts) => <HolderForms accounts={accounts} onChange={reload} />}
        </LoadedView>
      ) : (
        <p class="notice warn">A viewer cannot register accounts or submit orders. Sign in as a transactor.</p>
      )}
    </Page>
  )
}
