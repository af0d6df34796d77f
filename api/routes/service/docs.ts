/** GET /docs: the interface as a page for people, made of the OpenAPI document (D18). */
import type { PublicEndpoint } from '../../endpoint/route.ts'
import { IF_NONE_MATCH } from '../../endpoint/parameters.ts'

export const getDocs: PublicEndpoint = {
  id: 'getDocs',
  method: 'GET',
  path: '/docs',
  summary: 'Read this document as a page',
  description: 'One page without scripts, and nothing in it comes from elsewhere.',
  roles: null,
  parameters: [IF_NONE_MATCH],
  answers: [
    { status: 200, description: 'The page.', content: 'text/html', headers: ['ETag'] },
    { status: 304, description: 'It has not changed.', content: null, headers: ['ETag'] },
  ],
  handle: ({ contents }, { http }) => contents.page(http),
}
