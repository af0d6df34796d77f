/** GET /: links to the other resources. A browser is redirected to the page where people begin. */
import type { PublicEndpoint } from '../../endpoint/route.ts'
import { prefers } from '../../http/accept.ts'
import { jsonReply, textReply } from '../../http/reply.ts'
import { rootResponse } from '../../schemas/responses/operation.ts'

export const getRoot: PublicEndpoint = {
  id: 'getRoot',
  method: 'GET',
  path: '/',
  summary: 'List the starting points',
  description: 'A browser is redirected to the page where people begin.',
  roles: null,
  answers: [
    { status: 200, description: 'Paths of the service.', content: rootResponse },
    {
      status: 303,
      description: 'The page where people begin, for a client that prefers HTML.',
      content: null,
      headers: ['Location'],
    },
  ],
  handle: ({ contents }, { http }) =>
    prefers(http.req.header('accept'), 'text/html', 'application/json')
      ? textReply(303, 'text/plain; charset=utf-8', '', { ...VARY, location: contents.startPage })
      : jsonReply(200, contents.startPage === CONSOLE ? { console: CONSOLE, ...PLACES } : PLACES, VARY),
}

const CONSOLE = '/console'
const PLACES = {
  documentation: '/docs',
  openapi: '/openapi.json',
  ready: '/readyz',
  keys: '/.well-known/jwks.json',
  errors: '/errors',
}
const VARY = { vary: 'accept' }
