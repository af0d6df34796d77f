/** GET /.well-known/jwks.json: every public key of the service, with its purpose and its span (D9, D12). */
import type { Context } from 'hono'
import type { PublishedKey } from '../../../runtime/ports/service-keys.ts'
import type { EdgeDependencies } from '../../http/dependencies.ts'
import { createKnownContent } from '../../http/known-content.ts'
import type { StaticReply } from '../../http/reply.ts'
import type { PublicRoute } from '../../endpoint/route.ts'

export function keySet({ serviceKeys, settings }: EdgeDependencies): PublicRoute {
  let made: { readonly text: string; readonly content: (http: Context) => StaticReply } | undefined
  return {
    access: 'public',
    method: 'GET',
    path: '/.well-known/jwks.json',
    handle: ({ http }) => {
      const text = JSON.stringify({ ledger_id: settings.ledgerId, keys: serviceKeys.published().map(keyMembers) })
      if (made?.text !== text) made = { text, content: createKnownContent('application/json', text) }
      return made.content(http)
    },
  }
}

/**
 * `nbf` and `exp` in seconds since 1970, the span rounded outwards; a key in use has no `exp`. `revoked` as in OpenID
 * Federation 1.0, 8.7.2: whoever has it checks nothing with the key any more.
 */
function keyMembers(key: PublishedKey): object {
  return {
    kty: 'EC',
    crv: 'P-256',
    x: key.x,
    y: key.y,
    kid: key.keyId,
    use: 'sig',
    alg: 'ES256',
    purpose: key.purpose,
    nbf: Math.floor(key.activeFromMs / 1000),
    ...(key.retiredAtMs === null ? {} : { exp: Math.ceil(key.retiredAtMs / 1000) }),
    ...(key.revokedAtMs === null ? {} : { revoked: { revoked_at: Math.floor(key.revokedAtMs / 1000) } }),
  }
}
