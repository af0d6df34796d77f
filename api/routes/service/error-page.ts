/** GET /errors/{slug}: the page of a type of problem (D14). */
import { pathValue, type PublicEndpoint } from '../../endpoint/route.ts'
import { notFound } from '../../http/problem.ts'
import { IF_NONE_MATCH } from '../../endpoint/parameters.ts'

export const getErrorPage: PublicEndpoint = {
  id: 'getErrorPage',
  method: 'GET',
  path: '/errors/:slug',
  summary: 'Read what a type of problem means',
  description: 'A page for a person: the `type` of a problem leads here.',
  roles: null,
  parameters: [IF_NONE_MATCH],
  answers: [
    { status: 200, description: 'The page.', content: 'text/html', headers: ['ETag'] },
    { status: 304, description: 'It has not changed.', content: null, headers: ['ETag'] },
  ],
  handle: ({ contents }, call) =>
    contents.errorPage(pathValue(call, 'slug'))?.(call.http) ?? notFound('There is no such type of problem.'),
}
