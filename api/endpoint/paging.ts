/** Lists in pages (D16): page size, page token and counts. */
import type { PageCount, PagePosition, PageTokens } from '../http/page-token.ts'
import type { Query } from '../http/query.ts'
import { jsonReply } from '../http/reply.ts'
import { groupIdOf } from './path-values.ts'
import { type EdgeContext, type EndpointOutcome, type GuardedCall, pathValue } from './route.ts'

export const DEFAULT_PAGE_SIZE = 100
export const MAX_PAGE_SIZE = 1000

const PATH_VALUE = /\/:(\w+)/g

export interface PageRequest {
  readonly limit: number
  /** The cursor of the page before; null: this is the first page. */
  readonly after: string | null
  /** The page token for a cursor, with the count that came with this request. */
  readonly tokenOf: (cursor: string | null) => string
}

export interface ListPage {
  readonly members: object
  /** The cursor of this page for the next one; null: this page is the last. */
  readonly next: string | number | null
  /** Of a list that is counted with its first page, whose tokens carry the count along. null: not counted now. */
  readonly count?: PageCount | null
  /** Of a list that is counted exactly for each page. */
  readonly total?: number
  readonly headers?: Readonly<Record<string, string>>
}

/**
 * The tokens of a list are bound to its path, the client, the path values and `filters`, in this order: clients keep
 * tokens, so that it must not change. The page size may change between pages. `read` may reply in another form.
 */
export async function listReply(
  { tokens }: Pick<EdgeContext, 'tokens'>,
  call: GuardedCall,
  filters: readonly (string | number | null)[],
  read: (request: PageRequest) => Promise<ListPage | EndpointOutcome>,
): Promise<EndpointOutcome> {
  const { caller, endpoint, query } = call
  const path = endpoint.path.replaceAll(PATH_VALUE, '')
  const scope = JSON.stringify([path, caller.clientId, ...pathValues(call), ...filters])
  const limit = pageSizeOf(query)
  const position = readPosition(query, tokens, scope)
  const refused = query.problem()
  if (refused !== undefined) return refused
  const carried = position?.count ?? null
  const tokenOf = (cursor: string | null, count = carried): string =>
    cursor === null ? '' : tokens.write(scope, { cursor, count })
  const page = await read({ limit, after: position?.cursor ?? null, tokenOf })
  if ('kind' in page) return page
  const { members, next, total, headers = {} } = page
  // Without a count the lower bound is 0.
  const count = page.count === undefined ? null : (carried ?? page.count ?? { total: 0, exact: false })
  const shown = total === undefined ? count : { total, exact: true }
  const token = tokenOf(next === null ? null : String(next), count)
  return jsonReply(
    200,
    { ...members, next_page_token: token, ...(shown === null ? {} : countMembers(shown)) },
    shown?.exact === false ? { ...headers, 'x-total-count-relation': 'gte' } : headers,
  )
}

function pathValues(call: GuardedCall): readonly string[] {
  const names = [...call.endpoint.path.matchAll(PATH_VALUE)].map(([, name = '']) => name)
  return names.map((name) => (name === 'groupId' ? groupIdOf(call) : pathValue(call, name)))
}

/** null: the first page. The last page has an empty next token: a client that sends it back begins again. */
function readPosition(query: Query, tokens: PageTokens, scope: string): PagePosition | null {
  const token = query.value('page_token')
  const position = token === null || token === '' ? null : tokens.read(scope, token)
  if (position === undefined) {
    query.reject('page_token', 'ERR_INVALID_QUERY', 'is damaged, or belongs to another query')
  }
  return position ?? null
}

export function pageSizeOf(query: Query): number {
  const size = query.parsed('page_size', parsePageSize, 'ERR_INVALID_QUERY', 'must be a positive integer')
  return size ?? DEFAULT_PAGE_SIZE
}

/** Above the cap is served as the cap. */
function parsePageSize(text: string): number | undefined {
  if (!/^[0-9]+$/.test(text)) return undefined
  const size = Math.min(Number(text), MAX_PAGE_SIZE)
  return size > 0 ? size : undefined
}

function countMembers({ total, exact }: PageCount): object {
  return { total_count: total, total_count_relation: exact ? 'eq' : 'gte' }
}

/** The cursor of a list by number; -1 is before the first. */
export function numberAfter(after: string | null): number {
  return after === null ? -1 : Number(after)
}

/** One page of rows that were all read at once, in the order of their cursors. */
export function sliceAfter<Row>(
  rows: readonly Row[],
  cursorOf: (row: Row) => string,
  { after, limit }: PageRequest,
): { readonly rows: readonly Row[]; readonly next: string | null } {
  const rest = rows.filter((row) => after === null || cursorOf(row) > after)
  const page = rest.slice(0, limit)
  const last = page.at(-1)
  return { rows: page, next: page.length < rest.length && last !== undefined ? cursorOf(last) : null }
}
