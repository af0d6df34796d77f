import { collected } from '../../../client/collected.ts'
import { Section } from '../../parts/page.tsx'
import { VerifyButton } from '../../parts/verify-button.tsx'
import { liabilityFinding } from '../../proofs/liability-finding.ts'
import { useSession } from '../../session/session.ts'

export function LiabilitySection({ accountId }: { readonly accountId: string }) {
  const { client, clientId, keySet } = useSession()
  return (
    <Section
      title="Proof of liabilities"
      intro="The ledger sums all it owes in a tree and signs its root. This browser recomputes the way from the account to the root."
    >
      <VerifyButton
        label="Verify that the account is counted"
        subject={accountId}
        verify={async (signal) => {
          const { result } = await client.call('proveLiabilities', { body: { requester: clientId }, signal })
          const proof = await client.liabilityProof(accountId, { merkleRoot: result.merkle_root, signal })
          const query = { page_size: 1_000, as_of: result.as_of }
          const balances = await collected(client.list('listBalances', { path: { accountId }, query, signal }))
          return liabilityFinding(proof, keySet, { accountId, balances })
        }}
      />
    </Section>
  )
}
