/** GET /docs: the interface as a page for people, made of the OpenAPI document (D18). */
import type { InterfaceContents } from '../../docs/contents.ts'
import type { PublicRoute } from '../../endpoint/route.ts'

export function docs({ page }: InterfaceContents): PublicRoute {
  return { access: 'public', method: 'GET', path: '/docs', handle: ({ http }) => page(http) }
}
