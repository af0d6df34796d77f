import type { Receipt, Transaction } from '../../../client/index.ts'
import { codeText } from '../../parts/figures.ts'
import { LoadedView } from '../../parts/loaded-view.tsx'
import { Fields, Page, Section } from '../../parts/page.tsx'
import { Amount, Id, Status, Text, Time } from '../../parts/text.tsx'
import { useLoad } from '../../parts/use-load.ts'
import { VerifyButton } from '../../parts/verify-button.tsx'
import { receiptFinding } from '../../proofs/receipt-finding.ts'
import { withLog } from '../../proofs/log-finding.ts'
import { LOG_WAIT_MS, logEvidence } from '../../session/log-trust.ts'
import { hrefOf } from '../../session/place.ts'
import { useSession } from '../../session/session.ts'
import { AssetAmount } from './transaction-columns.tsx'

export function TransactionPage({ txnId }: { readonly txnId: string }) {
  const { client } = useSession()
  const { loaded, reload } = useLoad(
    (signal) => client.call('getTransaction', { path: { txnId }, signal }),
    [client, txnId],
  )
  return (
    <Page
      title={`Transaction ${txnId}`}
      heading={<Id value={txnId} />}
      crumbs={[{ label: 'Transactions', href: hrefOf(['transactions']) }]}
    >
      <LoadedView of={loaded} name="the transaction">
        {(transaction) => (
          <>
            <Section title="Transaction">
              <Summary transaction={transaction} />
            </Section>
            {transaction.status === 'pending' ? (
              <Section
                title="Receipt"
                actions={
                  <button type="button" onClick={reload}>
                    Look again
                  </button>
                }
              >
                <p class="quiet">The receipt follows once the transaction is final.</p>
              </Section>
            ) : (
              <ReceiptSection txnId={txnId} transaction={transaction} />
            )}
          </>
        )}
      </LoadedView>
    </Page>
  )
}

function Summary({ transaction }: { readonly transaction: Transaction }) {
  const { failure, metadata, hold_id: hold, group_id: group } = transaction
  return (
    <>
      <Fields
        rows={[
          ['Status', <Status key="status" value={transaction.status} />],
          ['Type', transaction.type],
          ['Amount', <AssetAmount key="amount" of={transaction} />],
          ['Account', <AccountLink key="account" id={transaction.account_id} />],
          ['To', transaction.to_account_id && <AccountLink key="to" id={transaction.to_account_id} />],
          ['From', transaction.from_account_id && <AccountLink key="from" id={transaction.from_account_id} />],
          ['Brings in return', transaction.receive && <AssetAmount key="receive" of={transaction.receive} />],
          ['Balance after', transaction.balance_after && <Amount key="after" value={transaction.balance_after} />],
          ['Available after', transaction.available_after && <Amount key="free" value={transaction.available_after} />],
          ['Ordered by', transaction.origin === 'client' ? 'a client' : 'the ledger itself'],
          ['Group', group && <Id key="group" value={group} href={hrefOf(['groups', group])} />],
          ['Hold', hold && <Id key="hold" value={hold} />],
          ['Undoes', transaction.compensates && <TransactionLink key="undoes" id={transaction.compensates} />],
          ['Undone by', transaction.compensated_by && <TransactionLink key="undone" id={transaction.compensated_by} />],
          ['Refunds', transaction.refunds && <TransactionLink key="refunds" id={transaction.refunds} />],
          ['Refunded', transaction.refunded_amount && <Amount key="refunded" value={transaction.refunded_amount} />],
          ['Shard', transaction.shard_id],
          ['Accepted', <Time key="created" value={transaction.created_at} />],
          ['Final', transaction.processed_at && <Time key="processed" value={transaction.processed_at} />],
        ]}
      />
      {failure !== undefined && (
        <p class="notice bad">
          <span>
            <strong>Failed: {codeText(failure.code)}.</strong> <Text value={failure.detail} />
          </span>
        </p>
      )}
      {metadata !== undefined && <Metadata metadata={metadata} />}
    </>
  )
}

/** Texts of the client, shown as texts. */
function Metadata({ metadata }: { readonly metadata: Readonly<Record<string, string>> }) {
  return (
    <>
      <h3>Metadata</h3>
      <dl class="fields">
        {Object.entries(metadata).map(([name, value]) => (
          <div key={name}>
            <dt>
              <Text value={name} limit={80} />
            </dt>
            <dd>
              <Text value={value} />
            </dd>
          </div>
        ))}
      </dl>
    </>
  )
}

function AccountLink({ id }: { readonly id: string }) {
  return <Id value={id} href={hrefOf(['accounts', id])} />
}

function TransactionLink({ id }: { readonly id: string }) {
  return <Id value={id} href={hrefOf(['transactions', id])} />
}

interface ReceiptSectionProps {
  /** In the address of the page. */
  readonly txnId: string
  readonly transaction: Transaction
}

function ReceiptSection({ txnId, transaction }: ReceiptSectionProps) {
  const { client } = useSession()
  const { loaded } = useLoad((signal) => client.receipt(txnId, { signal }), [client, txnId])
  return (
    <Section
      title="Receipt"
      intro="The ledger signed it when the transaction became final. Keep it with the public keys: both verify without the ledger."
    >
      <LoadedView of={loaded} name="the receipt">
        {(receipt) => <ReceiptView given={receipt} txnId={txnId} transaction={transaction} />}
      </LoadedView>
    </Section>
  )
}

function ReceiptView({ given, txnId, transaction }: ReceiptSectionProps & { readonly given: Receipt }) {
  const { client, keySet, logTrust } = useSession()
  const { receipt, signature } = given
  return (
    <>
      <Fields
        rows={[
          ['Entry of the chain', receipt.sequence === null ? 'none: a failed order changes nothing' : receipt.sequence],
          ['Hash of the entry', receipt.audit_hash && <Id key="hash" value={receipt.audit_hash} />],
          ['Hash of the signed order', <Id key="order" value={receipt.submission_hash} />],
          ['Signed with key', <Id key="key" value={receipt.key_id} />],
        ]}
      />
      <VerifyButton
        label="Verify the receipt"
        subject={transaction}
        verify={async (signal) => {
          const entries = await client.auditChain(receipt.account_id, { signal })
          const found = await receiptFinding(given, keySet, { entries, shown: transaction, txnId })
          const { audit_hash: auditHash } = receipt
          if (auditHash === null) return found
          const ask = () => client.receiptLogProof(txnId, { signal, timeoutMs: LOG_WAIT_MS })
          return withLog(found, { auditHash, policy: logTrust.policy, fetch: () => logEvidence(client, ask, signal) })
        }}
      />
      <details>
        <summary>The receipt as JSON</summary>
        <pre>
          <Text value={JSON.stringify({ receipt, signature }, null, 2)} limit={8_000} />
        </pre>
      </details>
    </>
  )
}
