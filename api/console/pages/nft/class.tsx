import type { NftInstanceSummary } from '../../../client/index.ts'
import { LoadedView } from '../../parts/loaded-view.tsx'
import { Fields, Page, Section } from '../../parts/page.tsx'
import { type Column, PagedTable } from '../../parts/table.tsx'
import { Id, Status, Text, Time } from '../../parts/text.tsx'
import { useLoad } from '../../parts/use-load.ts'
import { useList } from '../../parts/use-pages.ts'
import { hrefOf } from '../../session/place.ts'
import { useSession } from '../../session/session.ts'

export function NftClassPage({ classId }: { readonly classId: string }) {
  const { client } = useSession()
  const { loaded } = useLoad((signal) => client.call('getNftClass', { path: { classId }, signal }), [client, classId])
  return (
    <Page
      title={`NFT class ${classId}`}
      heading={<Id value={classId} />}
      crumbs={[{ label: 'NFTs', href: hrefOf(['nfts']) }]}
    >
      <LoadedView of={loaded} name="the class">
        {({ name, description, issuer, created_at: created, metadata_schema: schema }) => (
          <Section title="Class">
            <Fields
              rows={[
                ['Name', <Text key="name" value={name} />],
                ['Issuer', <Id key="issuer" value={issuer} href={hrefOf(['accounts', issuer])} />],
                ['Registered', <Time key="created" value={created} />],
                ['Description', <Text key="description" value={description} />],
              ]}
            />
            <details>
              <summary>The schema of the metadata</summary>
              <pre>
                <Text value={JSON.stringify(schema, null, 2)} limit={8_000} />
              </pre>
            </details>
          </Section>
        )}
      </LoadedView>
      <Section title="Instances">
        <Instances classId={classId} />
      </Section>
    </Page>
  )
}

function Instances({ classId }: { readonly classId: string }) {
  const columns: readonly Column<NftInstanceSummary>[] = [
    { title: 'NFT', cell: ({ instance_id: id }) => <Id value={id} href={hrefOf(['nfts', classId, id])} /> },
    { title: 'Owner', cell: ({ owner }) => <Id value={owner} href={hrefOf(['accounts', owner])} /> },
    { title: 'Status', cell: ({ status }) => <Status value={status} /> },
    { title: 'Metadata', cell: ({ metadata }) => <Text value={JSON.stringify(metadata)} limit={120} /> },
    { title: 'Minted', cell: ({ minted_at: time }) => <Time value={time} /> },
  ]
  const paged = useList('listNftInstances', { path: { classId } })
  return (
    <PagedTable
      name="the instances"
      caption="Instances of the class"
      paged={paged}
      columns={columns}
      keyOf={({ instance_id: id }) => id}
      empty="No instance of this class is minted yet."
    />
  )
}
