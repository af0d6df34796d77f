/** Calls any operation of the interface by its ID, with the types of the OpenAPI document. */
import type { Operations } from './generated/api-types.ts'
import { OPERATIONS } from './generated/operations.ts'
import type { HttpRequest } from './http.ts'

export type OperationId = keyof Operations & keyof typeof OPERATIONS
export type ReplyOf<Id extends OperationId> = Operations[Id]['reply']

export interface CallOptions {
  /** Ends the call, which rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined
}

/** Members without required fields may be left out. */
type Part<Name extends string, Fields> = [keyof Fields] extends [never]
  ? unknown
  : object extends Fields
    ? { readonly [Member in Name]?: Fields }
    : { readonly [Member in Name]: Fields }

/** `idempotencyKey`: of a registration, for the header; a random one by default. `waitS`: `Prefer: wait`, 30 s at most. */
export type RequestOf<Id extends OperationId> = CallOptions & {
  readonly idempotencyKey?: string
  readonly waitS?: number
} & Part<'path', Operations[Id]['path']> &
  Part<'query', Operations[Id]['query']> &
  Part<'body', Operations[Id]['body']>

/** The request may be left out if it has no required member. */
export type Arguments<Id extends OperationId> =
  object extends RequestOf<Id> ? [request?: RequestOf<Id>] : [request: RequestOf<Id>]

/** Operations that respond with a page of a list. */
export type ListId = {
  [Id in OperationId]: (typeof OPERATIONS)[Id] extends { items: string } ? Id : never
}[OperationId]
type ItemsOf<Id extends ListId> = (typeof OPERATIONS)[Id]['items']
export type ItemOf<Id extends ListId> = ReplyOf<Id>[ItemsOf<Id> & keyof ReplyOf<Id>] extends readonly (infer Item)[]
  ? Item
  : never

/** Common to the requests of all operations. */
export interface AnyRequest extends CallOptions {
  readonly path?: Readonly<Record<string, string | number>>
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>
  readonly body?: object
  readonly idempotencyKey?: string
  readonly waitS?: number
}

interface Operation {
  readonly method: string
  readonly path: string
  readonly open?: true
  readonly key?: 'header' | 'body'
}

/** Each repetition has another effect. */
const NOT_REPEATABLE: readonly OperationId[] = ['issueToken', 'testWebhook', 'rotateWebhookSecret']

export function requestOf(id: OperationId, request: AnyRequest = {}): HttpRequest {
  const operation: Operation = OPERATIONS[id]
  const { path = {}, query = {}, body, idempotencyKey, waitS, signal } = request
  const headers = {
    ...(operation.key === 'header' ? { 'idempotency-key': idempotencyKey ?? crypto.randomUUID() } : {}),
    ...(waitS === undefined ? {} : { prefer: `wait=${Math.ceil(waitS)}` }),
  }
  return {
    method: operation.method,
    path: pathOf(operation.path, path) + queryOf(query),
    headers,
    body,
    open: operation.open ?? false,
    repeatable: !NOT_REPEATABLE.includes(id),
    ...(id === 'submitBatch' ? { correctUncertain: doubtResults } : {}),
    ...(waitS === undefined ? {} : { waitS }),
    signal,
  }
}

/** Orders that this attempt did not apply, an earlier one may have. */
function doubtResults(body: unknown): void {
  const { results } = body as ReplyOf<'submitBatch'>
  for (const result of results) {
    if ('problem' in result && result.problem.outcome === 'not_applied')
      Object.assign(result.problem, { outcome: 'unknown' })
  }
}

function pathOf(template: string, values: Readonly<Record<string, string | number>>): string {
  return template.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(values[name] ?? ''))
}

function queryOf(query: Readonly<Record<string, string | number | boolean | undefined>>): string {
  const given = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) if (value !== undefined) given.set(name, String(value))
  return given.size === 0 ? '' : `?${given.toString()}`
}

/** The rows of a page. */
export function itemsOf<Id extends ListId>(id: Id, page: ReplyOf<Id>): readonly ItemOf<Id>[] {
  const rows: { readonly [name: string]: unknown } = { ...page }
  return rows[OPERATIONS[id].items] as readonly ItemOf<Id>[]
}
