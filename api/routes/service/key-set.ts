/** GET /.well-known/jwks.json: every public key of the service, with its purpose and its span (D9, D12). */
import type { EdgeContext, PublicEndpoint } from '../../endpoint/route.ts'
import type { PublishedKey } from '../../../runtime/ports/service-keys.ts'
import { createKnownContent, type KnownContent } from '../../http/known-content.ts'
import { keySetResponse } from '../../schemas/responses/operation.ts'
import { IF_NONE_MATCH } from '../../endpoint/parameters.ts'

export const getKeySet: PublicEndpoint<EdgeContext> = {
  id: 'getKeySet',
  method: 'GET',
  path: '/.well-known/jwks.json',
  summary: 'Get the public keys of the service',
  description:
    'Every key that ever signed, each with its one purpose and its span. A signature counts only if it was made by a key of its purpose within the span. Keep a copy with what they signed.',
  roles: null,
  parameters: [IF_NONE_MATCH],
  answers: [
    { status: 200, description: 'The keys.', content: keySetResponse, headers: ['ETag'] },
    { status: 304, description: 'They have not changed.', content: null, headers: ['ETag'] },
  ],
  handle({ serviceKeys, settings }, { http }) {
    const text = JSON.stringify({ ledger_id: settings.ledgerId, keys: serviceKeys.published().map(keyMembers) })
    if (made?.text !== text) made = { text, content: createKnownContent('application/json', text) }
    return made.content(http)
  },
}

let made: { readonly text: string; readonly content: KnownContent } | undefined

/**
 * `nbf` and `exp` in seconds since 1970, the span rounded outwards; a key in use has no `exp`. `revoked` as in OpenID
 * Federation 1.0, 8.7.2: no signature of a revoked key counts.
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
