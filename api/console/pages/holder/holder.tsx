import { LoadedView } from '../../parts/loaded-view.tsx'
import { Page } from '../../parts/page.tsx'
import { useLoad } from '../../parts/use-load.ts'
import { permits, useSession } from '../../session/session.ts'
import { CreditForm } from './credit-form.tsx'
import { HeldAccounts } from './held-accounts.tsx'
import { heldAccounts } from './key-store.ts'
import { RegisterForm } from './register-form.tsx'
import { TransferForm } from './transfer-form.tsx'

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
          {(accounts) => (
            <>
              {accounts.length > 0 && <HeldAccounts accounts={accounts} onChange={reload} />}
              <RegisterForm accounts={accounts} onRegistered={reload} />
              {accounts.length > 0 && <CreditForm accounts={accounts} onDone={reload} />}
              {accounts.length > 0 && <TransferForm accounts={accounts} onDone={reload} />}
            </>
          )}
        </LoadedView>
      ) : (
        <p class="notice warn">A viewer cannot register accounts or submit orders. Sign in as a transactor.</p>
      )}
    </Page>
  )
}
