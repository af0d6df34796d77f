/** GET /openapi.json: the interface in OpenAPI 3.1 (D18). */
import type { PublicEndpoint } from '../../endpoint/route.ts'
import { IF_NONE_MATCH } from '../../endpoint/parameters.ts'

export const getOpenApi: PublicEndpoint = {
  id: 'getOpenApi',
  method: 'GET',
  path: '/openapi.json',
  summary: 'Get this document',
  description: 'OpenAPI 3.1, built from the schemas that validate requests.',
  roles: null,
  parameters: [IF_NONE_MATCH],
  answers: [
    { status: 200, description: 'The document.', content: 'application/json', headers: ['ETag'] },
    { status: 304, description: 'It has not changed.', content: null, headers: ['ETag'] },
  ],
  handle: ({ contents }, { http }) => contents.document(http),
}
