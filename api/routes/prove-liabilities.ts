/** POST /v1/assertions/proof-of-liabilities: what the ledger owes in all, at one moment, signed (D12). */
import { showHash } from '../../actors/audit-chain.ts'
import type { JsonObject } from '../../actors/canonical-json.ts'
import { isoTimestamp } from '../../actors/timestamp.ts'
import type { Liabilities } from '../../runtime/ports/assertion-source.ts'
import type { EdgeDependencies } from '../dependencies.ts'
import { assertionRoute } from '../prove.ts'
import type { GuardedRoute } from '../route.ts'

export function proveLiabilities(dependencies: EdgeDependencies): GuardedRoute {
  return assertionRoute(dependencies, 'proof-of-liabilities', async (assertions) =>
    liabilitiesMembers(await assertions.liabilities()),
  )
}

export function liabilitiesMembers({ totalLiabilities, byToken, merkleRoot, asOfMs }: Liabilities): JsonObject {
  return {
    total_liabilities: totalLiabilities,
    merkle_root: showHash(merkleRoot),
    by_token: byToken.map(({ tokenId, total }) => ({ token_id: tokenId, total })),
    as_of: isoTimestamp(asOfMs),
  }
}
