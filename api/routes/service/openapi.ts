/** GET /openapi.json: the interface in OpenAPI 3.1 (D18). */
import { open, type PublicRoute } from '../../endpoint/route.ts'
import type { KnownContent } from '../../http/known-content.ts'
import type { Operation } from '../../endpoint/operation.ts'
import { IF_NONE_MATCH } from '../../endpoint/parameters.ts'

export const GET_OPEN_API: Operation = {
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
}

export function openApi(document: KnownContent): PublicRoute {
  return { ...open(GET_OPEN_API), handle: ({ http }) => document(http) }
}
