import { useState } from 'preact/hooks'
import { generateKey } from '../../../client/index.ts'
import { Failure } from '../../parts/loaded-view.tsx'
import { Section } from '../../parts/page.tsx'
import { Field } from '../../parts/field.tsx'
import { useSession } from '../../session/session.ts'
import type { HeldAccount } from './held-account.ts'
import { forgetAccount, keepAccount } from './key-store.ts'
import { registerNewKey } from './registration.ts'

const NAMES = ['alice', 'bob', 'carol', 'dave', 'erin']

interface RegisterFormProps {
  readonly accounts: readonly HeldAccount[]
  readonly onRegistered: () => void
}

export function RegisterForm({ accounts, onRegistered }: RegisterFormProps) {
  const { client, ledgerId } = useSession()
  const [accountId, setAccountId] = useState(() => suggestion(accounts.length))
  const [progress, setProgress] = useState<{ readonly isBusy: boolean; readonly error?: unknown }>({ isBusy: false })
  const register = async (): Promise<void> => {
    setProgress({ isBusy: true })
    const id = accountId.trim()
    const held = accounts.find((one) => one.accountId === id)
    try {
      if (held === undefined) {
        const key = await generateKey({ extractable: false })
        const account = { ledgerId, accountId: id, createdAtMs: Date.now(), key }
        await registerNewKey(client, account, { keepAccount, forgetAccount })
      } else {
        // The reply to its registration may have been lost. The ledger accepts the same key again.
        await client.registerAccount(id, held.key)
      }
      setProgress({ isBusy: false })
      setAccountId(suggestion(accounts.length + 1))
    } catch (error) {
      setProgress({ isBusy: false, error })
    }
    onRegistered()
  }
  return (
    <Section
      title={accounts.length === 0 ? 'Make your first account' : 'Make another account'}
      intro={accounts.length === 1 ? 'For a transfer between your own accounts, make a second one.' : undefined}
    >
      <form
        class="row"
        onSubmit={(event) => {
          event.preventDefault()
          void register()
        }}
      >
        <Field label="Account ID" value={accountId} onValue={setAccountId} maxLength={128} />
        <button type="submit" class={accounts.length < 2 ? 'primary' : ''} disabled={progress.isBusy}>
          {progress.isBusy ? 'Registering …' : 'Make a key and register'}
        </button>
      </form>
      {progress.error !== undefined && <Failure error={progress.error} action="The registration" />}
    </Section>
  )
}

/** A name that hardly anyone has taken. */
function suggestion(index: number): string {
  const [random = 0] = crypto.getRandomValues(new Uint16Array(1))
  return `${NAMES[index % NAMES.length] ?? 'account'}-${random.toString(16).padStart(4, '0')}`
}
