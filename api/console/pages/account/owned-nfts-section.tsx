import type { OwnedNft } from '../../../client/index.ts'
import { Section } from '../../parts/page.tsx'
import { type Column, PagedTable } from '../../parts/table.tsx'
import { Id, Status, Text, Time } from '../../parts/text.tsx'
import { useList } from '../../parts/use-pages.ts'
import { hrefOf } from '../../session/place.ts'

const COLUMNS: readonly Column<OwnedNft>[] = [
  {
    title: 'NFT',
    cell: ({ class_id: classId, instance_id: id }) => <Id value={id} href={hrefOf(['nfts', classId, id])} />,
  },
  {
    title: 'Class',
    cell: ({ class_id: classId, class_name: name }) => (
      <a href={hrefOf(['nfts', classId])}>
        <Text value={name} limit={60} isInLink />
      </a>
    ),
  },
  { title: 'Status', cell: ({ status }) => <Status value={status} /> },
  { title: 'Metadata', cell: ({ metadata }) => <Text value={JSON.stringify(metadata)} limit={120} /> },
  { title: 'Acquired', cell: ({ acquired_at: time }) => <Time value={time} /> },
]

export function OwnedNftsSection({ accountId }: { readonly accountId: string }) {
  const paged = useList('listAccountNfts', { path: { accountId } })
  return (
    <Section title="NFTs">
      <PagedTable
        name="the NFTs"
        caption={`NFTs of ${accountId}`}
        paged={paged}
        columns={COLUMNS}
        keyOf={({ class_id: classId, instance_id: id }) => `${classId}/${id}`}
        empty="The account owns no NFT."
      />
    </Section>
  )
}
