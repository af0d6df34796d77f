import { useState } from 'preact/hooks'
import { Choice, Field } from '../../parts/field.tsx'
import { Section } from '../../parts/page.tsx'
import type { HeldAccount } from './held-account.ts'
import { OrderView } from './order-view.tsx'
import { useOrder } from './use-order.ts'

interface OrderFormProps {
  readonly accounts: readonly HeldAccount[]
  readonly isNext: boolean
  readonly onDone: () => void
}

export function CreditForm({ accounts, isNext, onDone }: OrderFormProps) {
  const [accountId, setAccountId] = useState(accounts[0]?.accountId ?? '')
  const [amount, setAmount] = useState('100')
  const order = useOrder(onDone)
  const account = accounts.find((one) => one.accountId === accountId) ?? accounts[0]
  return (
    <Section
      title="Bring value in"
      intro="A credit takes value from outside the ledger. In production only clients with this grant may submit one."
    >
      <form
        class="row"
        onSubmit={(event) => {
          event.preventDefault()
          if (account === undefined) return
          void order.submit({ account_id: account.accountId, type: 'credit', amount }, account.key)
        }}
      >
        <Choice
          label="Credited account"
          value={account?.accountId ?? ''}
          onValue={setAccountId}
          choices={accounts.map((one) => [one.accountId, one.accountId])}
        />
        <Field label="Credited amount (BASE)" value={amount} onValue={setAmount} isDecimal />
        <button type="submit" class={isNext ? 'primary' : ''} disabled={order.isBusy}>
          {order.isBusy ? 'Crediting …' : 'Sign and credit'}
        </button>
      </form>
      <OrderView order={order} />
    </Section>
  )
}
