import type { NftClassSummary } from '../../../client/index.ts'
import { Page, Section } from '../../parts/page.tsx'
import { type Column, PagedTable } from '../../parts/table.tsx'
import { Id, Text, Time } from '../../parts/text.tsx'
import { useList } from '../../parts/use-pages.ts'
import { hrefOf } from '../../session/place.ts'

const COLUMNS: readonly Column<NftClassSummary>[] = [
  {
    title: 'Class',
    cell: ({ class_id: id, name }) => (
      <a href={hrefOf(['nfts', id])}>
        <Text value={name} limit={80} isInLink />
      </a>
    ),
  },
  { title: 'Issuer', cell: ({ issuer }) => <Id value={issuer} href={hrefOf(['accounts', issuer])} /> },
  { title: 'Registered', cell: ({ created_at: time }) => <Time value={time} /> },
]

export function NftClassesPage() {
  const paged = useList('listNftClasses')
  return (
    <Page title="NFTs" intro="Classes of unique assets. Each instance has an owner, a history and attestations.">
      <Section title="Classes">
        <PagedTable
          name="the classes"
          caption="NFT classes"
          paged={paged}
          columns={COLUMNS}
          keyOf={({ class_id: id }) => id}
          empty="No NFT class is registered yet. A client registers one with POST /v1/nft-classes."
        />
      </Section>
    </Page>
  )
}
