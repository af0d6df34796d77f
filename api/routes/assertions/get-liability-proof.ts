/**
 * GET /v1/accounts/{id}/liability-proof: that what the ledger owes the account is part of a total that the ledger has
 * signed (D12). The total is signed anew for the client that asks, so that the proof can be checked with nothing but the
 * JWKS. Of an account that was erased there is none (D19), though runs from before still hold its balances.
 */
import { type Hash, showHash } from '../../../actors/audit-chain.ts'
import type { JsonObject } from '../../../actors/canonical-json.ts'
import type { TokenProof, TokenTotal } from '../../../runtime/liabilities/inclusion.ts'
import { accountRead } from '../../endpoint/path-values.ts'
import { signedAssertion } from '../../endpoint/assertion.ts'
import { listReply } from '../../endpoint/paging.ts'
import { notFound, type Problem } from '../../http/problem.ts'
import { noSuchAccount } from '../../endpoint/refusals.ts'
import { type Endpoint, EVERYONE } from '../../endpoint/route.ts'
import { liabilitiesMembers } from './prove-liabilities.ts'
import { liabilityProofResponse } from '../../schemas/responses/assertion.ts'
import { sha256 } from '../../schemas/values.ts'
import { PAGING } from '../../endpoint/parameters.ts'

export const getLiabilityProof: Endpoint = {
  id: 'getLiabilityProof',
  method: 'GET',
  path: '/v1/accounts/:accountId/liability-proof',
  summary: 'Prove that an account is counted in',
  description:
    'For each token the account holds, its shares in the token’s tree with the hashes and sums beside the way to the root, and the signed total, so that `ledger verify` checks it all offline. Proofs are kept for 24 hours.',
  roles: EVERYONE,
  parameters: [
    {
      name: 'merkle_root',
      in: 'query',
      description: 'The `merkle_root` of the assertion that it is asked for; the latest, unless said.',
      schema: sha256,
    },
    ...PAGING,
  ],
  answers: [{ status: 200, description: 'One page of the proof.', content: liabilityProofResponse }],
  refusals: { ERR_NOT_FOUND: 'There is no such account, or no such proof any more.' },
  handle: accountRead((accountId, context, call) => {
    const { clientId } = call.caller
    const asked = call.query.parsed('merkle_root', hashOf, 'ERR_INVALID_QUERY', MERKLE_ROOT_RULE)
    return listReply(context, call, [asked], async ({ after, limit }) => {
      const account = await context.reads.account(accountId)
      if (account === undefined) return noSuchAccount()
      if (account.status === 'erased') return noSuchProof()
      // Later pages come from the same run, also if the request named no run.
      const [root = null, tokenId = null] = after?.split(' ') ?? []
      const run = { accountId, merkleRoot: root ?? asked, after: tokenId, limit }
      const found = await context.assertions.liabilityProof(run)
      if (found === undefined) return noSuchProof()
      const { liabilities, totals, proofs, next } = found
      const members = {
        account_id: accountId,
        merkle_root: showHash(liabilities.merkleRoot),
        totals: totals.map(totalMembers),
        proofs: proofs.map(proofMembers),
        assertion: await signedAssertion(context, 'proof-of-liabilities', clientId, liabilitiesMembers(liabilities)),
      }
      return { members, next: next === null ? null : `${liabilities.merkleRoot} ${next}` }
    })
  }),
}

const MERKLE_ROOT = /^sha256:([0-9a-f]{64})$/
const MERKLE_ROOT_RULE = 'must be sha256: and 64 hexadecimal digits in lower case'

function noSuchProof(): Problem {
  return notFound('There is no such proof of liabilities, or it is older than 24 hours.')
}

function hashOf(text: string): Hash | undefined {
  return MERKLE_ROOT.exec(text)?.[1]
}

function totalMembers({ tokenId, root, total }: TokenTotal): JsonObject {
  return { token_id: tokenId, root: showHash(root), total }
}

function proofMembers({ tokenId, amount, shares }: TokenProof): JsonObject {
  return {
    token_id: tokenId,
    amount,
    shares: shares.map(({ index, amount: share, nonce, siblings }) => ({
      index,
      amount: share,
      nonce,
      siblings: siblings.map(({ hash, sum }) => ({ hash: showHash(hash), sum })),
    })),
  }
}
