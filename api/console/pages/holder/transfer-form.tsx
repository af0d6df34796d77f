import { useState } from 'preact/hooks'
import type { Order } from '../../../client/index.ts'
import { Choice, Field } from '../../parts/field.tsx'
import { Section } from '../../parts/page.tsx'
import { useSession } from '../../session/session.ts'
import type { HeldAccount } from './key-store.ts'
import { followOrder, type OrderProgress } from './order-progress.ts'
import { OrderView } from './order-view.tsx'

interface TransferFormProps {
  readonly accounts: readonly HeldAccount[]
  readonly onDone: () => void
}

export function TransferForm({ accounts, onDone }: TransferFormProps) {
  const session = useSession()
  const [fromId, setFromId] = useState(accounts[0]?.accountId ?? '')
  const [typedTo, setTo] = useState<string>()
  const [tokenId, setTokenId] = useState('BASE')
  const [amount, setAmount] = useState('25')
  const [progress, setProgress] = useState<OrderProgress>()
  const [isBusy, setBusy] = useState(false)
  const from = accounts.find((one) => one.accountId === fromId) ?? accounts[0]
  const others = accounts.filter((one) => one !== from).map((one) => one.accountId)
  const to = typedTo ?? others[0] ?? ''
  const submit = async (sender: HeldAccount): Promise<void> => {
    setBusy(true)
    const order: Order = {
      account_id: sender.accountId,
      type: 'transfer',
      to_account_id: to.trim(),
      amount,
      ...(tokenId === 'BASE' ? {} : { token_id: tokenId }),
    }
    await followOrder(session, order, sender.key, setProgress)
    setBusy(false)
    onDone()
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
        <button type="submit" class={accounts.length < 2 ? '' : 'primary'} disabled={isBusy}>
          {isBusy ? 'Transferring …' : 'Sign and transfer'}
        </button>
      </form>
      <OrderView progress={progress} />
    </Section>
  )
}
