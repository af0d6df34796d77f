/** GET /v1/imports/key: what another ledger encrypts to, and names as the audience, to export to this one. */
import type { EdgeDependencies } from '../../http/dependencies.ts'
import { EVERYONE, guarded, type GuardedRoute } from '../../endpoint/route.ts'
import { jsonReply } from '../../http/reply.ts'
import { importKeyResponse } from '../../schemas/responses/import.ts'
import type { Operation } from '../../endpoint/operation.ts'

export const GET_IMPORT_KEY: Operation = {
  id: 'getImportKey',
  method: 'GET',
  path: '/v1/imports/key',
  summary: 'Get the key to export to',
  description:
    'Another ledger needs both to export to this one: `ledger_id` as the `audience`, `public_key` as the `recipient_public_key`. The key signs nothing and is not in `/.well-known/jwks.json`. After a rotation, exports encrypted to the previous key still open.',
  roles: EVERYONE,
  answers: [{ status: 200, description: 'The key.', content: importKeyResponse }],
}

export function getImportKey({ imports, settings }: EdgeDependencies): GuardedRoute {
  return {
    ...guarded(GET_IMPORT_KEY),
    handle() {
      const { keyId, x, y } = imports.key()
      const publicKey = { kty: 'EC', crv: 'P-256', x, y }
      return jsonReply(200, { ledger_id: settings.ledgerId, public_key: publicKey, key_id: keyId })
    },
  }
}
