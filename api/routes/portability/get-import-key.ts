/** GET /v1/imports/key: what another ledger encrypts to, and names as the audience, to export to this one. */
import { type Endpoint, EVERYONE } from '../../endpoint/route.ts'
import { jsonReply } from '../../http/reply.ts'
import { importKeyResponse } from '../../schemas/responses/import.ts'

export const getImportKey: Endpoint = {
  id: 'getImportKey',
  method: 'GET',
  path: '/v1/imports/key',
  summary: 'Get the key to export to',
  description:
    'Another ledger needs both to export to this one: `ledger_id` as the `audience`, `public_key` as the `recipient_public_key`. The key signs nothing and is not in `/.well-known/jwks.json`. After a rotation, exports encrypted to the previous key still open.',
  roles: EVERYONE,
  answers: [{ status: 200, description: 'The key.', content: importKeyResponse }],
  handle({ imports, settings }) {
    const { keyId, x, y } = imports.key()
    const publicKey = { kty: 'EC', crv: 'P-256', x, y }
    return jsonReply(200, { ledger_id: settings.ledgerId, public_key: publicKey, key_id: keyId })
  },
}
