import type { ComponentChildren } from 'preact'
import { Failure } from '../../parts/loaded-view.tsx'
import { Id, Status, Text } from '../../parts/text.tsx'
import { FindingView } from '../../parts/verify-button.tsx'
import { hrefOf } from '../../session/place.ts'
import { type OrderProgress, stepsDone } from './order-progress.ts'
import type { OrderInProgress } from './use-order.ts'

/** The way of an order, step by step. */
export function OrderView({ order: { progress, sendAgain } }: { readonly order: OrderInProgress }) {
  return (
    <div role="status" class="journey">
      {progress !== undefined && <Steps progress={progress} />}
      {sendAgain !== undefined && (
        <button type="button" onClick={() => void sendAgain()}>
          Send the same order again
        </button>
      )}
    </div>
  )
}

function Steps({ progress }: { readonly progress: OrderProgress }) {
  const { signedText, txnId, transaction, finding, error } = progress
  const done = stepsDone(progress)
  const steps: readonly (readonly [string, ComponentChildren])[] = [
    ['Signed in this browser', signedText !== undefined && <SignedText text={signedText} />],
    ['Accepted by the ledger', txnId !== undefined && <Id value={txnId} href={hrefOf(['transactions', txnId])} />],
    [
      'Decided',
      transaction !== undefined && (
        <>
          <Status value={transaction.status} />
          {transaction.failure !== undefined && (
            <>
              {' '}
              <Text value={transaction.failure.detail} />
            </>
          )}
        </>
      ),
    ],
    ['Receipt checked', finding !== undefined && <FindingView finding={finding} />],
  ]
  return (
    <>
      <ol>
        {steps.map(([title, detail], index) => (
          <li key={title} class={index < done ? 'done' : index === done && error === undefined ? 'current' : ''}>
            <strong>{title}</strong>
            <div>{detail}</div>
          </li>
        ))}
      </ol>
      {error !== undefined && <Failure error={error} action="The order" />}
    </>
  )
}

function SignedText({ text }: { readonly text: string }) {
  return (
    <details>
      <summary>The signed text</summary>
      <pre>
        <Text value={text} limit={4_000} />
      </pre>
    </details>
  )
}
