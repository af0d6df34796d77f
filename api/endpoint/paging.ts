/** Page size and page token of all lists (D16). */
import type { PageCount, PagePosition, PageTokens } from '../http/page-token.ts'
import type { Query } from '../http/query.ts'

export const DEFAULT_PAGE_SIZE = 100
export const MAX_PAGE_SIZE = 1000

/** The parameters that `readPageRequest` reads. */
export const PAGE_PARAMETERS = ['page_size', 'page_token'] as const

export interface PageRequest {
  readonly limit: number
  /** Null: the first page. */
  readonly after: PagePosition | null
}

/** `scope`: what makes this list, without its page size, so that the size may change between pages. */
export function readPageRequest(query: Query, tokens: PageTokens, scope: string): PageRequest {
  const limit = query.parsed('page_size', parsePageSize, 'ERR_INVALID_QUERY', 'must be a positive integer')
  const token = query.value('page_token')
  // The last page has an empty next token. A client that sends it back begins again.
  const after = token === null || token === '' ? null : tokens.read(scope, token)
  if (after === undefined) {
    query.reject('page_token', 'ERR_INVALID_QUERY', 'is damaged, or belongs to another query')
  }
  return { limit: limit ?? DEFAULT_PAGE_SIZE, after: after ?? null }
}

/** Above the cap is served as the cap. */
function parsePageSize(text: string): number | undefined {
  if (!/^[0-9]+$/.test(text)) return undefined
  const size = Math.min(Number(text), MAX_PAGE_SIZE)
  return size > 0 ? size : undefined
}

/** One list of one client. `filters`: name and value in a fixed order. */
export function listScope(path: string, clientId: string, filters: readonly (string | number | null)[] = []): string {
  return JSON.stringify([path, clientId, ...filters])
}

/** `""` on the last page. */
export function nextPageToken(
  tokens: PageTokens,
  scope: string,
  cursor: string | null,
  count: PageCount | null,
): string {
  return cursor === null ? '' : tokens.write(scope, { cursor, count })
}

/** Counted with the first page; the tokens of those after it carry it along. Without a count the lower bound is 0. */
export function countOfList(after: PagePosition | null, counted: PageCount | null): PageCount {
  return after?.count ?? counted ?? { total: 0, exact: false }
}

export function countMembers({ total, exact }: PageCount): { total_count: number; total_count_relation: 'eq' | 'gte' } {
  return { total_count: total, total_count_relation: exact ? 'eq' : 'gte' }
}

/** For a response with the count in its body. */
export function countHeaders({ exact }: PageCount): Readonly<Record<string, string>> {
  return exact ? {} : { 'x-total-count-relation': 'gte' }
}
