/**
 * Requests with the header `Idempotency-Key` (D7), and their replies. Edges write them; the database serializes edges that
 * write at once.
 * Contract: test/contract/idempotency-store/idempotency-store.contract.ts
 *   H1. One request is the first under a key; while it is stored, a request with another payload cannot begin.
 *   H2. The first stored reply stays. A call that stores another one returns the first.
 *   H3. A refusal frees the key only if every other attempt at the request has ended: the effect of an open attempt is
 *       unknown.
 *   H4. A call resolves after its commit: its result is durable.
 *   H5. The store keeps a request and its reply for `KEPT_FOR_MS` from the request's beginning. After that the key is free.
 * Every failure is an `IdempotencyStoreUnavailable`. After a failed write its effect is unknown.
 */
import type { Hash } from '../../actors/audit-chain.ts'

export const KEPT_FOR_MS = 86_400_000

export interface IdempotencyStore {
  /** Begins an attempt at the request, unless it has a reply or another request has the key. */
  readonly begin: (key: RequestKey, payloadHash: Hash) => Promise<BegunRequest>
  /** Ends the request with its reply, unless it has one. */
  readonly finish: (key: RequestKey, request: AnsweredRequest) => Promise<FinishedRequest>
  /** Ends one attempt without an effect (H3). */
  readonly refuse: (key: RequestKey) => Promise<void>
  /** Stores a part, numbered from 0, of a reply that is too long for one text. `attempt` is unique for each attempt. */
  readonly keepPart: (key: RequestKey, attempt: string, number: number, content: Uint8Array) => Promise<void>
  /** Undefined: there is none. */
  readonly part: (key: RequestKey, attempt: string, number: number) => Promise<Uint8Array | undefined>
}

export interface RequestKey {
  readonly clientId: string
  /** Of the request, decoded. */
  readonly path: string
  readonly idempotencyKey: string
}

export type BegunRequest =
  | { readonly kind: 'begun' }
  /** A request with another payload has begun under the key and has no reply yet. */
  | { readonly kind: 'taken' }
  | { readonly kind: 'answered'; readonly request: AnsweredRequest }

/** `first`: this call stored the reply. */
export interface FinishedRequest {
  readonly first: boolean
  readonly request: AnsweredRequest
}

export interface AnsweredRequest {
  readonly payloadHash: Hash
  readonly answer: StoredReply
}

export interface StoredReply {
  readonly status: number
  readonly contentType: string
  readonly headers: Readonly<Record<string, string>>
  readonly content: KeptContent
}

export type KeptContent =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'parts'; readonly attempt: string; readonly count: number }
  /** The reply was longer than the store's limit. */
  | { readonly kind: 'dropped' }

export class IdempotencyStoreUnavailable extends Error {
  override readonly name = 'IdempotencyStoreUnavailable'
}
