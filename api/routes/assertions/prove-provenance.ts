/** POST /v1/assertions/proof-of-provenance: whether every NFT's history holds, signed (D12). */
import { isoTimestamp } from '../../../actors/timestamp.ts'
import type { EdgeDependencies } from '../../http/dependencies.ts'
import { assertionRoute } from '../../endpoint/prove.ts'
import type { GuardedRoute } from '../../endpoint/route.ts'
import { timeOrNull } from '../../views/views.ts'

export function proveProvenance(dependencies: EdgeDependencies): GuardedRoute {
  return assertionRoute(dependencies, 'proof-of-provenance', async (assertions) => {
    const { assetsVerified, provenanceValid, asOfMs, lastFullPassAtMs } = await assertions.provenance()
    return {
      assets_verified: assetsVerified,
      provenance_valid: provenanceValid,
      as_of: isoTimestamp(asOfMs),
      last_full_pass_at: timeOrNull(lastFullPassAtMs),
    }
  })
}
