import { useState } from 'preact/hooks'
import { Choice, Field } from '../../parts/field.tsx'
import { Section } from '../../parts/page.tsx'
import { useSession } from '../../session/session.ts'
import type { HeldAccount } from './key-store.ts'
import { followOrder, type OrderProgress } from './order-progress.ts'
import { OrderView } from './order-view.tsx'

interface OrderFormProps {
  readonly accounts: readonly HeldAccount[]
  readonly onDone: () => void
}

export function CreditForm({ accounts, onDone }: OrderFormProps) {
  const session = useSession()
  const [accountId, setAccountId] = useState(accounts[0]?.accountId ?? '')
  const [amount, setAmount] = useState('100')
  const [progress, setProgress] = useState<OrderProgress>()
  const [isBusy, setBusy] = useState(false)
  const account = accounts.find((one) => one.accountId === accountId) ?? accounts[0]
  const submit = async (from: HeldAccount): Promise<void> => {
    setBusy(true)
    await followOrder(session, { account_id: from.accountId, type: 'credit', amount }, from.key, setProgress)
    setBusy(false)
    onDone()
  }
  return (
    <Section
      title="Bring value in"
      intro="A credit takes value from outside the ledger. In production only clients with this grant may submit one."
    >
      <form
        class="row"
        onSubmit={(event) => {
          event.preventDefault()
          if (account !== undefined) void submit(account)
        }}
      >
        <Choice
          label="Credited account"
          value={account?.accountId ?? ''}
          onValue={setAccountId}
          choices={accounts.map((one) => [one.accountId, one.accountId])}
        />
        <Field label="Credited amount (BASE)" value={amount} onValue={setAmount} isDecimal />
        <button type="submit" disabled={isBusy}>
          {isBusy ? 'Crediting …' : 'Sign and credit'}
        </button>
      </form>
      <OrderView progress={progress} />
    </Section>
  )
}
