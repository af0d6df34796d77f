/** GET /: links to the other resources. A browser is redirected to the documentation. */
import { prefers } from '../../http/accept.ts'
import { jsonReply, textReply } from '../../http/reply.ts'
import type { PublicRoute } from '../../endpoint/route.ts'

const PLACES = { documentation: '/docs', openapi: '/openapi.json', ready: '/readyz', keys: '/.well-known/jwks.json' }
const VARY = { vary: 'accept' }

export function root(): PublicRoute {
  return {
    access: 'public',
    method: 'GET',
    path: '/',
    handle: ({ http }) =>
      prefers(http.req.header('accept'), 'text/html', 'application/json')
        ? textReply(303, 'text/plain; charset=utf-8', '', { ...VARY, location: PLACES.documentation })
        : jsonReply(200, PLACES, VARY),
  }
}
