import { verifyLiabilityProof } from '../../../client/index.ts'
import { Section } from '../../parts/page.tsx'
import { VerifyButton } from '../../parts/verify-button.tsx'
import { findingOf, KEYS_UNPROVED } from '../../proofs/finding.ts'
import { useSession } from '../../session/session.ts'

const UNPROVED = [
  'That the operator has assets for these liabilities: the ledger knows only what it owes.',
  'That everyone else is counted: each account holder verifies the own share, against the same root.',
  KEYS_UNPROVED,
]

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
          return findingOf(await verifyLiabilityProof(proof, keySet), 'The proof', UNPROVED)
        }}
      />
    </Section>
  )
}
