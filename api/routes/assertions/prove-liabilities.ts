/** POST /v1/assertions/proof-of-liabilities: what the ledger owes in all, at one moment, signed (D12). */
import { showHash } from '../../../actors/audit-chain.ts'
import type { JsonObject } from '../../../actors/canonical-json.ts'
import { isoTimestamp } from '../../../actors/timestamp.ts'
import type { ExceededLimit, Liabilities } from '../../../runtime/ports/assertion-source.ts'
import { problem, type Problem } from '../../http/problem.ts'
import { proof } from '../../endpoint/prove.ts'
import { type Endpoint, EVERYONE } from '../../endpoint/route.ts'
import { assertionRequestSchema } from '../../schemas/requests/assertion.ts'
import { liabilitiesAssertionResponse } from '../../schemas/responses/assertion.ts'

export const proveLiabilities: Endpoint = {
  id: 'proveLiabilities',
  method: 'POST',
  path: '/v1/assertions/proof-of-liabilities',
  summary: 'Have the total liabilities signed',
  description: `The liabilities of the ledger at one moment: balances, and value in transit between accounts, each unit once. A Merkle-sum tree per token computes the total; totals that do not reconcile are not signed (503).

An account holder verifies that the total includes the account with GET /v1/accounts/{accountId}/liability-proof. Concurrent requests share one computation; each result is signed for its own requester.

A proof covers at most one million balances for each processor of the edge, and four million in all. GET /readyz warns from 80 % of that.`,
  roles: EVERYONE,
  body: assertionRequestSchema,
  answers: [{ status: 200, description: 'The assertion.', content: liabilitiesAssertionResponse }],
  refusals: {
    ERR_DOWNSTREAM_FAILURE:
      'The proof is temporarily unavailable, the totals do not reconcile, or the ledger is too large: `detail` then names the limit.',
  },
  handle: proof(
    'proof-of-liabilities',
    async (assertions) => liabilitiesMembers(await assertions.liabilities()),
    (error) => (error.exceeded === undefined ? undefined : tooLarge(error.exceeded)),
  ),
}

/** Seconds: the number of balances rarely falls, and each attempt reads all of them. */
const RETRY_TOO_LARGE_S = '3600'

function tooLarge(exceeded: ExceededLimit): Problem {
  const refused = problem(
    'downstream-failure',
    'ERR_DOWNSTREAM_FAILURE',
    `${reasonOf(exceeded)} ${REMEDIES[exceeded.kind]}`,
  )
  return { ...refused, headers: { 'retry-after': RETRY_TOO_LARGE_S } }
}

const REMEDIES = {
  balances: 'Each processor of the edge, up to four, raises the limit.',
  time: 'Retry under a lower load, or give the edge more processors.',
} as const satisfies Record<ExceededLimit['kind'], string>

/** Names the limit and not how many balances there are: every role may ask. */
function reasonOf(exceeded: ExceededLimit): string {
  return exceeded.kind === 'balances'
    ? `The ledger has more than ${shown(exceeded.maxBalances)} balances, as many as a proof of liabilities covers on this edge.`
    : `The balances of the ledger could not be read within ${shown(exceeded.limitMs / 1_000)} s, the limit of a proof of liabilities.`
}

function shown(count: number): string {
  return count.toLocaleString('en')
}

export function liabilitiesMembers({ totalLiabilities, byToken, merkleRoot, asOfMs }: Liabilities): JsonObject {
  return {
    total_liabilities: totalLiabilities,
    merkle_root: showHash(merkleRoot),
    by_token: byToken.map(({ tokenId, total }) => ({ token_id: tokenId, total })),
    as_of: isoTimestamp(asOfMs),
  }
}
