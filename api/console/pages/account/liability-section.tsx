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
        verify={async () => {
          const { result } = await client.call('proveLiabilities', { body: { requester: clientId } })
          const proof = await client.liabilityProof(accountId, { merkleRoot: result.merkle_root })
          return liabilityFinding(proof, keySet, accountId)
        }}
      />
    </Section>
  )
}
