/** POST /v1/assertions/proof-of-provenance: whether every NFT's history holds, signed (D12). */
import { isoTimestamp } from '../../../actors/timestamp.ts'
import { proof } from '../../endpoint/prove.ts'
import { type Endpoint, EVERYONE } from '../../endpoint/route.ts'
import { timeOrNull } from '../../views/views.ts'
import { assertionRequestSchema } from '../../schemas/requests/assertion.ts'
import { provenanceAssertionResponse } from '../../schemas/responses/assertion.ts'

export const proveProvenance: Endpoint = {
  id: 'proveProvenance',
  method: 'POST',
  path: '/v1/assertions/proof-of-provenance',
  summary: 'Have the provenance of all NFTs signed',
  description:
    'Whether every NFT’s history holds, from its mint to its owner, hash links and receipts included: as of the last complete pass and all that came since. A row that was tampered with makes `provenance_valid` false, and so does a pass that is a day old.',
  roles: EVERYONE,
  body: assertionRequestSchema,
  answers: [{ status: 200, description: 'The assertion.', content: provenanceAssertionResponse }],
  handle: proof('proof-of-provenance', async (assertions) => {
    const { assetsVerified, provenanceValid, asOfMs, lastFullPassAtMs } = await assertions.provenance()
    return {
      assets_verified: assetsVerified,
      provenance_valid: provenanceValid,
      as_of: isoTimestamp(asOfMs),
      last_full_pass_at: timeOrNull(lastFullPassAtMs),
    }
  }),
}
