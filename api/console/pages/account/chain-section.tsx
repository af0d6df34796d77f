import { useState } from 'preact/hooks'
import type { Account, AuditEntry } from '../../../client/index.ts'
import { codeText, countText } from '../../parts/figures.ts'
import { Fields, Section } from '../../parts/page.tsx'
import { type Column, PagedTable } from '../../parts/table.tsx'
import { Id, Text, Time } from '../../parts/text.tsx'
import { useList } from '../../parts/use-pages.ts'
import { VerifyButton } from '../../parts/verify-button.tsx'
import { chainFinding } from '../../proofs/chain-finding.ts'
import { withLog } from '../../proofs/log-finding.ts'
import { LOG_WAIT_MS, logEvidence } from '../../session/log-trust.ts'
import { hrefOf } from '../../session/place.ts'
import { useSession } from '../../session/session.ts'
import { entryFields } from './entry-fields.ts'

const PAGE_SIZE = 25

const COLUMNS: readonly Column<AuditEntry>[] = [
  { title: 'Entry', isNumber: true, cell: ({ sequence }) => sequence },
  { title: 'Kind', cell: ({ payload }) => <Text value={codeText(entryFields(payload).kind)} /> },
  { title: 'Time', cell: ({ payload }) => <Time value={entryFields(payload).time} /> },
  {
    title: 'Transaction',
    cell: ({ txn_id: id }) =>
      id === null ? <span class="quiet">none</span> : <Id value={id} href={hrefOf(['transactions', id])} />,
  },
  { title: 'Hash', cell: ({ audit_hash: hash }) => <Id value={hash} /> },
]

export function ChainSection({ account }: { readonly account: Account }) {
  const { client, logTrust } = useSession()
  const { account_id: accountId, sequence, audit_hash: tip } = account
  const [broken, setBroken] = useState<{ readonly rows: readonly AuditEntry[]; readonly at: number | undefined }>()
  const paged = useList('listAuditChain', { path: { accountId } }, PAGE_SIZE)
  const shown = paged.loaded.state === 'done' ? paged.loaded.value.rows : undefined
  return (
    <Section
      title="Audit chain"
      intro={`${countText(sequence + 1, 'entry', 'entries')}, oldest first. Each hash covers the entry and the hash before it, so a change of any entry shows.`}
    >
      <Fields rows={[['Last hash', <Id key="tip" value={tip} />]]} />
      {shown !== undefined && (
        <VerifyButton
          label="Verify the chain"
          subject={shown}
          verify={async (signal) => {
            const finding = await chainFinding(await client.auditChain(accountId, { signal }), {
              accountId,
              tip,
              shown,
            })
            setBroken({ rows: shown, at: finding.brokenAt })
            const last = [...(finding.chain?.entries.values() ?? [])].at(-1)
            if (last === undefined) return finding
            const ask = () => client.logProof(accountId, last.sequence, { signal, timeoutMs: LOG_WAIT_MS })
            const fetch = () => logEvidence(client, ask, signal)
            return withLog(finding, { auditHash: last.audit_hash, policy: logTrust.policy, fetch })
          }}
        />
      )}
      <PagedTable
        name="the audit chain"
        caption={`Audit chain of ${accountId}`}
        paged={paged}
        columns={COLUMNS}
        keyOf={(entry) => String(entry.sequence)}
        markOf={(entry) => (entry.sequence === broken?.at && broken.rows === shown ? 'tampered' : undefined)}
        empty="The chain has no entries."
      />
    </Section>
  )
}
