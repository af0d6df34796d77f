/** GET /docs: the interface as a page for people, made of the OpenAPI document (D18). */
import type { InterfaceContents } from '../openapi/contents.ts'
import { MAX_SEARCH_LENGTH } from '../openapi/parameters.ts'
import { readQuery } from '../query.ts'
import type { PublicRoute } from '../route.ts'
import { codePoints } from '../schemas/fields.ts'

export function docs({ page }: InterfaceContents): PublicRoute {
  return {
    access: 'public',
    method: 'GET',
    path: '/docs',
    handle({ http }) {
      const query = readQuery(http.req.url)
      const words = query.parsed(
        'q',
        parseWords,
        'ERR_INVALID_QUERY',
        `must be at most ${MAX_SEARCH_LENGTH} characters`,
      )
      return query.problem() ?? page(http, words ?? '')
    },
  }
}

function parseWords(text: string): string | undefined {
  return codePoints(text) <= MAX_SEARCH_LENGTH ? text.trim() : undefined
}
