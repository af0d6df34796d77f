import type { ComplianceAssertion } from '../../../client/index.ts'
import { verifyAssertion } from '../../../client/index.ts'
import { agoText, codeText } from '../../parts/figures.ts'
import { LoadedView } from '../../parts/loaded-view.tsx'
import { Fields, Section } from '../../parts/page.tsx'
import { Status, Time } from '../../parts/text.tsx'
import { useNow } from '../../parts/use-feed.ts'
import { useLoad } from '../../parts/use-load.ts'
import { VerifyButton } from '../../parts/verify-button.tsx'
import { findingOf, KEYS_UNPROVED } from '../../proofs/finding.ts'
import { useSession } from '../../session/session.ts'

const UNPROVED = [
  'That the auditor found everything: the operator signs its own findings. Verify chains and receipts for what concerns you.',
  KEYS_UNPROVED,
]

/** The auditor's findings, as the ledger signs them. */
export function AuditorSection() {
  const { client, clientId } = useSession()
  const { loaded, reload } = useLoad(
    (signal) => client.call('proveCompliance', { body: { requester: clientId }, signal }),
    [client],
  )
  return (
    <Section
      title="Auditor"
      intro="It walks every chain, receipt and balance again and again, and each new row once."
      actions={
        <button type="button" onClick={reload}>
          Ask again
        </button>
      }
    >
      <LoadedView of={loaded} name="the findings of the auditor">
        {(assertion) => <Findings assertion={assertion} />}
      </LoadedView>
    </Section>
  )
}

function Findings({ assertion }: { readonly assertion: ComplianceAssertion }) {
  const { keySet } = useSession()
  const nowMs = useNow(10_000)
  const { compliant, controls, last_full_pass_at: lastPass, frameworks } = assertion.result
  return (
    <>
      <Fields
        rows={[
          ['Result', <Status key="result" value={compliant ? 'passed' : 'failed'} />],
          ['Frameworks', frameworks.join(', ')],
          [
            'Last complete pass',
            lastPass === null ? (
              'none yet'
            ) : (
              <>
                <Time value={lastPass} /> ({agoText(Date.parse(lastPass), nowMs)})
              </>
            ),
          ],
        ]}
      />
      <ul class="checks">
        {controls.map(({ name, passed, checked, failed }) => (
          <li key={name}>
            {codeText(name)} <Status value={passed ? 'passed' : 'failed'} />{' '}
            <span class="quiet">
              {checked.toLocaleString('en-US')} checked{failed === 0 ? '' : `, ${failed.toLocaleString('en-US')} wrong`}
            </span>
          </li>
        ))}
      </ul>
      <VerifyButton
        label="Verify the signature"
        subject={assertion}
        verify={async () => findingOf(await verifyAssertion(assertion, keySet), 'The assertion', UNPROVED)}
      />
    </>
  )
}
