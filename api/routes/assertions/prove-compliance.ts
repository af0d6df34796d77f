/** POST /v1/assertions/proof-of-compliance: which controls ran and what they found, signed (D12). */
import { isoTimestamp } from '../../../actors/timestamp.ts'
import { proof } from '../../endpoint/prove.ts'
import { type Endpoint, EVERYONE } from '../../endpoint/route.ts'
import { timeOrNull } from '../../views/views.ts'
import { assertionRequestSchema } from '../../schemas/requests/assertion.ts'
import { complianceAssertionResponse } from '../../schemas/responses/assertion.ts'

export const proveCompliance: Endpoint = {
  id: 'proveCompliance',
  method: 'POST',
  path: '/v1/assertions/proof-of-compliance',
  summary: 'Have the outcome of the controls signed',
  description:
    'Which automated controls ran, and what they found: chains verify, value is conserved, receipts verify, no balance is negative, supplies reconcile. `compliant` says that every control passed and at least one ran.',
  roles: EVERYONE,
  body: assertionRequestSchema,
  answers: [{ status: 200, description: 'The assertion.', content: complianceAssertionResponse }],
  handle: proof('proof-of-compliance', async (assertions) => {
    const { compliant, frameworks, controls, asOfMs, lastFullPassAtMs } = await assertions.compliance()
    return {
      compliant,
      frameworks,
      controls: controls.map(({ name, passed, checked, failed }) => ({ name, passed, checked, failed })),
      as_of: isoTimestamp(asOfMs),
      last_full_pass_at: timeOrNull(lastFullPassAtMs),
    }
  }),
}
