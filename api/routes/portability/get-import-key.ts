/** GET /v1/imports/key: what another ledger encrypts to, and names as the audience, to export to this one. */
import type { EdgeDependencies } from '../../http/dependencies.ts'
import { jsonReply } from '../../http/reply.ts'
import { EVERYONE, type GuardedRoute } from '../../endpoint/route.ts'

export function getImportKey({ imports, settings }: EdgeDependencies): GuardedRoute {
  return {
    access: 'token',
    method: 'GET',
    path: '/v1/imports/key',
    roles: EVERYONE,
    asksLedger: false,
    handle() {
      const { keyId, x, y } = imports.key()
      const publicKey = { kty: 'EC', crv: 'P-256', x, y }
      return jsonReply(200, { ledger_id: settings.ledgerId, public_key: publicKey, key_id: keyId })
    },
  }
}
