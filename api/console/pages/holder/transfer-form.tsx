import { useState } from 'preact/hooks'
import type { Order } from '../../../client/index.ts'
import { Choice, Field } from '../../parts/field.tsx'
import { Section } from '../../parts/page.tsx'
import type { HeldAccount } from './held-account.ts'
import { OrderView } from './order-view.tsx'
import { useOrder } from './use-order.ts'

interface TransferFormProps {
  readonly accounts: readonly HeldAccount[]
  readonly isNext: boolean
  readonly onDone: () => void
}

export function TransferForm({ accounts, isNext, onDone }: TransferFormProps) {
  const [fromId, setFromId] = useState(accounts[0]?.accountId ?? '')
  const [typedTo, setTo] = useState<string>()
  const [tokenId, setTokenId] = useState('BASE')
  const [amount, setAmount] = useState('25')
  const order = useOrder(onDone)
  const from = accounts.find((one) => one.accountId === fromId) ?? accounts[0]
  const others = accounts.filter((one) => one !== from).map((one) => one.accountId)
  const to = typedTo ?? others[0] ?? ''
  const submit = async (sender: HeldAccount): Promise<void> => {
    const transfer: Order = {
      account_id: sender.accountId,
      type: 'transfer',
      to_account_id: to.trim(),
      amount,
      ...(tokenId === 'BASE' ? {} : { token_id: tokenId }),
    }
    await order.submit(transfer, sender.key)
  }
  return (
    <Section title="Transfer" intro="Your key signs the order here. Then this page follows it, and checks its receipt.">
      <form
        class="row"
        onSubmit={(event) => {
          event.preventDefault()
          if (from !== undefined) void submit(from)
        }}
      >
        <Choice
          label="From"
          value={from?.accountId ?? ''}
          onValue={setFromId}
          choices={accounts.map((one) => [one.accountId, one.accountId])}
        />
        <Field label="To account" value={to} onValue={setTo} choices={others} maxLength={128} />
        <Field label="Token" value={tokenId} onValue={setTokenId} maxLength={64} />
        <Field label="Amount" value={amount} onValue={setAmount} isDecimal />
        <button type="submit" class={isNext ? 'primary' : ''} disabled={order.isBusy}>
          {order.isBusy ? 'Transferring …' : 'Sign and transfer'}
        </button>
      </form>
      <OrderView order={order} />
    </Section>
  )
}
