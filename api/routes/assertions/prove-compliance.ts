/** POST /v1/assertions/proof-of-compliance: which controls ran and what they found, signed (D12). */
import { isoTimestamp } from '../../../actors/timestamp.ts'
import type { EdgeDependencies } from '../../http/dependencies.ts'
import { assertionRoute } from '../../endpoint/prove.ts'
import type { GuardedRoute } from '../../endpoint/route.ts'
import { timeOrNull } from '../../views/views.ts'

export function proveCompliance(dependencies: EdgeDependencies): GuardedRoute {
  return assertionRoute(dependencies, 'proof-of-compliance', async (assertions) => {
    const { compliant, frameworks, controls, asOfMs, lastFullPassAtMs } = await assertions.compliance()
    return {
      compliant,
      frameworks,
      controls: controls.map(({ name, passed, checked, failed }) => ({ name, passed, checked, failed })),
      as_of: isoTimestamp(asOfMs),
      last_full_pass_at: timeOrNull(lastFullPassAtMs),
    }
  })
}
