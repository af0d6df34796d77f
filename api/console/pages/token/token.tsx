import { LoadedView } from '../../parts/loaded-view.tsx'
import { Fields, Page, Section } from '../../parts/page.tsx'
import { Amount, Id, Text, Time } from '../../parts/text.tsx'
import { useLoad } from '../../parts/use-load.ts'
import { hrefOf } from '../../session/place.ts'
import { useSession } from '../../session/session.ts'
import { filterIn } from '../transaction/filter.ts'
import { TransactionList } from '../transaction/transactions.tsx'

export function TokenPage({ tokenId }: { readonly tokenId: string }) {
  const { client } = useSession()
  const { loaded } = useLoad(
    (signal) => client.call('getFungibleToken', { path: { tokenId }, signal }),
    [client, tokenId],
  )
  return (
    <Page
      title={`Token ${tokenId}`}
      heading={<Text value={tokenId} />}
      crumbs={[{ label: 'Tokens', href: hrefOf(['tokens']) }]}
    >
      <LoadedView of={loaded} name="the token">
        {({ total_supply: supply, decimals, issuer, created_at: created }) => (
          <Section title="Token">
            <Fields
              rows={[
                ['Total supply', <Amount key="supply" value={supply} />],
                ['Decimals', decimals],
                ['Issuer', <Id key="issuer" value={issuer} href={hrefOf(['accounts', issuer])} />],
                ['Registered', <Time key="created" value={created} />],
              ]}
            />
          </Section>
        )}
      </LoadedView>
      <Section title="Transactions">
        <TransactionList filter={filterIn(new URLSearchParams({ token_id: tokenId }))} />
      </Section>
    </Page>
  )
}
