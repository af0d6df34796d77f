import { useEffect, useState } from 'preact/hooks'
import { parsePolicy, type PublishedKey } from '../../../client/index.ts'
import { download } from '../../parts/download.ts'
import { LoadedView } from '../../parts/loaded-view.tsx'
import { Fields, Page, Section } from '../../parts/page.tsx'
import { type Column, Table } from '../../parts/table.tsx'
import { Id, Status, Time } from '../../parts/text.tsx'
import { useLoad } from '../../parts/use-load.ts'
import { VerifyButton } from '../../parts/verify-button.tsx'
import { keysFinding, keySetIn } from '../../proofs/keys-finding.ts'
import { useSession } from '../../session/session.ts'

const COLUMNS: readonly Column<PublishedKey>[] = [
  { title: 'Key', cell: ({ kid }) => <Id value={kid} /> },
  { title: 'Signs', cell: ({ purpose }) => `${purpose}s` },
  { title: 'From', cell: ({ nbf }) => <Time value={new Date(nbf * 1_000).toISOString()} /> },
  {
    title: 'Until',
    cell: ({ exp }) => (exp === undefined ? 'in use' : <Time value={new Date(exp * 1_000).toISOString()} />),
  },
  {
    title: 'Status',
    cell: ({ revoked, exp }) => <Status value={statusOf(revoked !== undefined, exp !== undefined)} />,
  },
]

/** The keys that all checks rest on. */
export function KeysPage() {
  const { keySet, ledgerId } = useSession()
  return (
    <Page
      title="Public keys"
      intro="Every check in this console uses these keys. The ledger publishes each key that ever signed for it."
    >
      <Section
        title="Keys of the ledger"
        actions={
          <button
            type="button"
            onClick={() =>
              download(`ledger-${ledgerId}.jwks.json`, 'application/json', JSON.stringify(keySet, null, 2))
            }
          >
            Save a copy
          </button>
        }
      >
        <Table caption="Keys of the ledger" columns={COLUMNS} rows={keySet.keys} keyOf={({ kid }) => kid} />
      </Section>
      <CompareSection />
      <LogSection />
    </Page>
  )
}

/** A copy from elsewhere proves that the keys are those of the ledger. */
function CompareSection() {
  const { keySet } = useSession()
  const [text, setText] = useState<string>()
  const [isUnreadable, setUnreadable] = useState(false)
  useEffect(() => setUnreadable(text !== undefined && keySetIn(text) === undefined), [text])
  const kept = text === undefined ? undefined : keySetIn(text)
  return (
    <Section
      title="Compare with a copy"
      intro="A server that changes answers can change the keys with them. Choose a copy that you kept, or got in another way."
    >
      <input
        type="file"
        accept=".json"
        aria-label="Copy of the keys"
        onChange={({ currentTarget }) => void currentTarget.files?.[0]?.text().then(setText)}
      />
      <div role="status">
        {isUnreadable && <p class="notice bad">This file has no key set. Choose a copy of /.well-known/jwks.json.</p>}
      </div>
      {kept !== undefined && (
        <VerifyButton
          label="Compare the keys"
          subject={text}
          verify={() => Promise.resolve(keysFinding(keySet, kept))}
        />
      )}
    </Section>
  )
}

/** Without a policy from elsewhere, checks rest on the log's key as the ledger serves it, and on no witness. */
function LogSection() {
  const { client, logTrust } = useSession()
  const { loaded } = useLoad((signal) => client.logVerifierKey({ signal }), [client])
  const [problem, setProblem] = useState<string>()
  const take = (policy: string): void => {
    logTrust.keep(policy)
    if (policy.trim() === '') setProblem(undefined)
    else
      parsePolicy(policy).then(
        () => setProblem(undefined),
        (error: Error) => setProblem(error.message),
      )
  }
  return (
    <Section
      title="The log and its witnesses"
      intro="The log has every entry of every chain. Witnesses sign it only while it never changes: then the ledger cannot show others another log."
    >
      <LoadedView of={loaded} name="the key of the log">
        {(key) => <Fields rows={[['Key of the log', <Id key="log" value={key} />]]} />}
      </LoadedView>
      <label>
        Policy (C2SP) with the keys of the log and of witnesses that you trust
        <textarea
          rows={5}
          spellcheck={false}
          defaultValue={logTrust.policy}
          onInput={({ currentTarget }) => take(currentTarget.value)}
        />
      </label>
      <div role="status">{problem !== undefined && <p class="notice bad">The policy is not valid: {problem}.</p>}</div>
      <p class="quiet">
        Checks of receipts and chains use it until you sign out. It must come from elsewhere than this page.
      </p>
    </Section>
  )
}

function statusOf(isRevoked: boolean, isRetired: boolean): string {
  if (isRevoked) return 'revoked'
  return isRetired ? 'retired' : 'active'
}
