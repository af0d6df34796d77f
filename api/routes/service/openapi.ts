/** GET /openapi.json: the interface in OpenAPI 3.1 (D18). */
import type { InterfaceContents } from '../../docs/contents.ts'
import type { PublicRoute } from '../../endpoint/route.ts'

export function openApi({ document }: InterfaceContents): PublicRoute {
  return { access: 'public', method: 'GET', path: '/openapi.json', handle: ({ http }) => document(http) }
}
