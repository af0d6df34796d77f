import type { ErrorCode, Problem } from './generated/api-types.ts'

/**
 * Codes of the ledger, and of the client: `ERR_UNREACHABLE`, no response arrived; `ERR_UNREADABLE_RESPONSE`, the response
 * is not the ledger's; `ERR_WAIT_TIMEOUT`, it was not final in time; `ERR_TERMS_CHANGED`, the ledger registered other terms;
 * `ERR_PAYLOAD_MISMATCH`, the idempotency key was used for another request, whose reply this is.
 */
export type LedgerErrorCode =
  | ErrorCode
  | 'ERR_UNREACHABLE'
  | 'ERR_UNREADABLE_RESPONSE'
  | 'ERR_WAIT_TIMEOUT'
  | 'ERR_TERMS_CHANGED'
  | 'ERR_PAYLOAD_MISMATCH'

/**
 * `not_applied`: the request had no effect. `unknown`: it may have had one, or the client was waiting for the outcome.
 * Undefined: it could have none.
 */
export type Outcome = 'not_applied' | 'unknown' | undefined

export interface LedgerErrorDetails {
  /** At least one. */
  readonly codes: readonly LedgerErrorCode[]
  readonly status?: number
  readonly outcome?: Outcome
  readonly requestId?: string | undefined
  readonly problem?: Problem
  readonly retryAfterMs?: number
  readonly idempotencyKey?: string | undefined
  readonly txnId?: string | undefined
  readonly groupId?: string | undefined
  readonly cause?: unknown
}

/** Every failure of a request. An aborted call rejects with the reason of its signal instead. */
export class LedgerError extends Error {
  override readonly name = 'LedgerError'
  /** The first of `codes`. */
  readonly code: LedgerErrorCode
  readonly codes: readonly LedgerErrorCode[]
  /** HTTP status; 0 without a response. */
  readonly status: number
  readonly outcome: Outcome
  /** `X-Request-Id`, for the operator. */
  readonly requestId: string | undefined
  /** The problem of the response: `errors` has the wrong fields. */
  readonly problem: Problem | undefined
  /** From `Retry-After`. */
  readonly retryAfterMs: number | undefined
  /** Of the request, also if it was random. With it the same request takes effect at most once. */
  readonly idempotencyKey: string | undefined

  /** Of the transaction that the ledger has accepted, and whose outcome the client could not read. */
  readonly txnId: string | undefined
  /** Of the group that the ledger has registered on other terms, or that the client was waiting for. */
  readonly groupId: string | undefined
  private readonly details: LedgerErrorDetails

  constructor(message: string, details: LedgerErrorDetails) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause })
    this.details = details
    this.code = details.codes[0] ?? 'ERR_UNREADABLE_RESPONSE'
    this.codes = details.codes
    this.status = details.status ?? 0
    this.outcome = details.outcome
    this.requestId = details.requestId
    this.problem = details.problem
    this.retryAfterMs = details.retryAfterMs
    this.idempotencyKey = details.idempotencyKey
    this.txnId = details.txnId
    this.groupId = details.groupId
  }

  /** The same failure with these changes. */
  with(changes: Pick<LedgerErrorDetails, 'outcome' | 'idempotencyKey' | 'txnId' | 'groupId'>): LedgerError {
    return new LedgerError(this.message, { ...this.details, ...changes })
  }
}

export function isLedgerError(error: unknown, code?: LedgerErrorCode): error is LedgerError {
  return error instanceof LedgerError && (code === undefined || error.codes.includes(code))
}
