import type { NftInstance, ProvenanceEntry } from '../../../client/index.ts'
import { collected } from '../../../client/collected.ts'
import { LoadedView } from '../../parts/loaded-view.tsx'
import { Fields, Page, Section } from '../../parts/page.tsx'
import { Id, Status, Text, Time } from '../../parts/text.tsx'
import { useLoad } from '../../parts/use-load.ts'
import { VerifyButton } from '../../parts/verify-button.tsx'
import { tampered } from '../../proofs/finding.ts'
import { ownershipFinding } from '../../proofs/ownership-finding.ts'
import { hrefOf } from '../../session/place.ts'
import { useSession } from '../../session/session.ts'

interface NftProps {
  readonly classId: string
  readonly instanceId: string
}

export function NftPage({ classId, instanceId }: NftProps) {
  const { client } = useSession()
  const { loaded } = useLoad(
    (signal) => client.call('getNftInstance', { path: { classId, instanceId }, signal }),
    [client, classId, instanceId],
  )
  return (
    <Page
      title={`NFT ${instanceId}`}
      heading={<Text value={instanceId} />}
      crumbs={[
        { label: 'NFTs', href: hrefOf(['nfts']) },
        { label: 'Class', href: hrefOf(['nfts', classId]) },
      ]}
    >
      <LoadedView of={loaded} name="the NFT">
        {(nft) => (
          <>
            <Section title="NFT">
              <Fields
                rows={[
                  ['Status', <Status key="status" value={nft.status} />],
                  ['Owner', <Id key="owner" value={nft.owner} href={hrefOf(['accounts', nft.owner])} />],
                  ['Class', <Id key="class" value={classId} href={hrefOf(['nfts', classId])} />],
                  ['Minted', <Time key="minted" value={nft.minted_at} />],
                ]}
              />
            </Section>
            <Metadata metadata={nft.metadata} />
            <ProvenanceSection classId={classId} instanceId={instanceId} nft={nft} />
          </>
        )}
      </LoadedView>
    </Page>
  )
}

function Metadata({ metadata }: Pick<NftInstance, 'metadata'>) {
  return (
    <Section title="Metadata">
      <dl class="fields">
        {Object.entries(metadata).map(([name, value]) => (
          <div key={name}>
            <dt>
              <Text value={name} limit={80} />
            </dt>
            <dd>
              <Text value={typeof value === 'string' ? value : JSON.stringify(value)} />
            </dd>
          </div>
        ))}
      </dl>
    </Section>
  )
}

function ProvenanceSection({ classId, instanceId, nft }: NftProps & { readonly nft: NftInstance }) {
  const { client, keySet } = useSession()
  const { owner, status } = nft
  const path = { classId, instanceId }
  const { loaded } = useLoad(
    (signal) => collected(client.list('listNftProvenance', { path, query: { max_depth: 1_000 }, signal })),
    [client, classId, instanceId],
  )
  const verify = async (signal: AbortSignal) => {
    const history = await collected(client.list('listNftHistory', { path, signal }))
    if (nft.class_id !== classId || nft.instance_id !== instanceId) {
      return tampered(
        `The ledger gave NFT ${nft.instance_id} of class ${nft.class_id}, but this page is of ${instanceId}.`,
      )
    }
    return ownershipFinding({ classId, instanceId, owner, status, history }, keySet, (txnId) =>
      client.receipt(txnId, { signal }),
    )
  }
  return (
    <Section title="Provenance" intro="Each owner, and each statement about the NFT, from the mint on.">
      <VerifyButton label="Verify the owners" subject={nft} verify={verify} />
      <LoadedView of={loaded} name="the provenance">
        {(entries) => (
          <ol class="timeline">
            {entries.map((entry) => (
              <ProvenanceItem
                key={`${entry.depth} ${entry.event} ${entry.txn_id ?? entry.attestation_id}`}
                entry={entry}
              />
            ))}
          </ol>
        )}
      </LoadedView>
    </Section>
  )
}

function ProvenanceItem({ entry }: { readonly entry: ProvenanceEntry }) {
  const { event, actor, timestamp, txn_id: txnId, details, revoked_by: revokedBy } = entry
  return (
    <li class={event}>
      <Time value={timestamp} />
      <div>
        <strong>{event}</strong> by <Text value={actor} limit={128} />
        {revokedBy !== undefined && (
          <>
            , revoked by <Text value={revokedBy} limit={128} />
          </>
        )}
        {txnId !== undefined && (
          <div>
            <Id value={txnId} href={hrefOf(['transactions', txnId])} />
          </div>
        )}
        {details !== undefined && (
          <p>
            <Text value={details} />
          </p>
        )}
      </div>
    </li>
  )
}
