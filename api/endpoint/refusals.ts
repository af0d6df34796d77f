/** Problems for the ledger's refusals and for its silence. A code without a row does not compile. */
import type { Answer } from '../../actors/account/outcome.ts'
import { sha256Hex } from '../../actors/audit-chain.ts'
import type { RefusalCode } from '../../actors/refusal.ts'
import type { GatewayOutcome } from '../../runtime/edge/ledger-gateway.ts'
import type { EdgeDependencies } from '../http/dependencies.ts'
import { limited, limitHeaders } from './request-limit.ts'
import { type CodeOf, notFound, type Problem, problem, type ProblemType, PROBLEM_TYPES } from '../http/problem.ts'

type ProblemRow = { [T in ProblemType]: { readonly type: T; readonly code: CodeOf<T> } }[ProblemType]

const REFUSALS = {
  account_not_found: { type: 'not-found', code: 'ERR_NOT_FOUND' },
  account_exists: { type: 'conflict', code: 'ERR_CONFLICT' },
  account_keyless: { type: 'forbidden', code: 'ERR_FORBIDDEN' },
  signature_mismatch: { type: 'forbidden', code: 'ERR_SIGNATURE_MISMATCH' },
  boundary_not_granted: { type: 'forbidden', code: 'ERR_FORBIDDEN' },
  wrong_ledger: { type: 'validation-error', code: 'ERR_WRONG_LEDGER' },
  expired: { type: 'validation-error', code: 'ERR_INVALID_TIMESTAMP' },
  token_not_found: { type: 'not-found', code: 'ERR_NOT_FOUND' },
  class_not_found: { type: 'not-found', code: 'ERR_NOT_FOUND' },
  class_exists: { type: 'conflict', code: 'ERR_CONFLICT' },
  instance_not_found: { type: 'not-found', code: 'ERR_NOT_FOUND' },
  instance_exists: { type: 'conflict', code: 'ERR_CONFLICT' },
  metadata_invalid: { type: 'validation-error', code: 'ERR_INVALID_FIELD' },
  metadata_unchecked: { type: 'not-found', code: 'ERR_NOT_FOUND' },
  owner_not_found: { type: 'not-found', code: 'ERR_NOT_FOUND' },
  amount_precision: { type: 'validation-error', code: 'ERR_INVALID_AMOUNT' },
  not_issuer: { type: 'forbidden', code: 'ERR_NOT_ISSUER' },
  self_transfer: { type: 'validation-error', code: 'ERR_SELF_TRANSFER' },
  receiver_not_found: { type: 'not-found', code: 'ERR_NOT_FOUND' },
  issuer_consent_missing: { type: 'forbidden', code: 'ERR_SIGNATURE_MISMATCH' },
  group_terms_unknown: { type: 'conflict', code: 'ERR_CONFLICT' },
  group_registered: { type: 'conflict', code: 'ERR_CONFLICT' },
  public_key_conflict: { type: 'conflict', code: 'ERR_CONFLICT' },
  key_used_elsewhere: { type: 'conflict', code: 'ERR_CONFLICT' },
  proof_missing: { type: 'validation-error', code: 'ERR_INVALID_SIGNATURE' },
  proof_mismatch: { type: 'forbidden', code: 'ERR_SIGNATURE_MISMATCH' },
  account_rate_limited: { type: 'rate-limited', code: 'ERR_RATE_LIMITED' },
  account_not_active: { type: 'conflict', code: 'ERR_CONFLICT' },
  account_paused: { type: 'conflict', code: 'ERR_CONFLICT' },
  account_closed: { type: 'conflict', code: 'ERR_CONFLICT' },
  account_not_frozen: { type: 'conflict', code: 'ERR_CONFLICT' },
  account_departing: { type: 'conflict', code: 'ERR_CONFLICT' },
  account_not_closed: { type: 'conflict', code: 'ERR_CONFLICT' },
  account_not_empty: { type: 'conflict', code: 'ERR_CONFLICT' },
  account_refuses: { type: 'conflict', code: 'ERR_CONFLICT' },
  balance_limit: { type: 'conflict', code: 'ERR_CONFLICT' },
  asset_limit: { type: 'conflict', code: 'ERR_CONFLICT' },
  supply_limit: { type: 'conflict', code: 'ERR_CONFLICT' },
  supply_underflow: { type: 'conflict', code: 'ERR_CONFLICT' },
  pending_limit: { type: 'conflict', code: 'ERR_CONFLICT' },
  expectation_limit: { type: 'conflict', code: 'ERR_CONFLICT' },
  token_exists: { type: 'conflict', code: 'ERR_CONFLICT' },
  group_exists: { type: 'conflict', code: 'ERR_CONFLICT' },
  group_not_found: { type: 'not-found', code: 'ERR_NOT_FOUND' },
  leg_signed: { type: 'conflict', code: 'ERR_CONFLICT' },
  group_settled: { type: 'conflict', code: 'ERR_CONFLICT' },
  group_expired: { type: 'conflict', code: 'ERR_CONFLICT' },
  transaction_not_found: { type: 'not-found', code: 'ERR_NOT_FOUND' },
  not_allowed: { type: 'forbidden', code: 'ERR_FORBIDDEN' },
  arrival_not_held: { type: 'validation-error', code: 'ERR_INVALID_FIELD' },
  arrival_out_of_order: { type: 'validation-error', code: 'ERR_INVALID_FIELD' },
  arrival_not_empty: { type: 'validation-error', code: 'ERR_INVALID_FIELD' },
  hold_not_found: { type: 'not-found', code: 'ERR_NOT_FOUND' },
  insufficient_funds: { type: 'conflict', code: 'ERR_INSUFFICIENT_FUNDS' },
  compensation_limit: { type: 'validation-error', code: 'ERR_INVALID_FIELD' },
  owner_refused: { type: 'validation-error', code: 'ERR_INVALID_FIELD' },
  cannot_be_stored: { type: 'validation-error', code: 'ERR_INVALID_FIELD' },
  cannot_be_processed: { type: 'validation-error', code: 'ERR_INVALID_FIELD' },
  wrong_shard: { type: 'validation-error', code: 'ERR_INVALID_FIELD' },
  unknown_operation: { type: 'validation-error', code: 'ERR_INVALID_FIELD' },
} as const satisfies Record<RefusalCode, ProblemRow>

const MS_PER_SECOND = 1_000

export type RefusedAnswer = Extract<Answer, { kind: 'refused' }>

export function refusalProblem(refused: RefusedAnswer): Problem {
  const { type, code } = REFUSALS[refused.code]
  if (type === 'rate-limited') return accountLimited(refused)
  const field = refused.field ?? (PROBLEM_TYPES[type].status === 400 ? 'body' : null)
  return problem(type, code, refused.detail, field === null ? null : [{ field, message: refused.detail }])
}

/** A refused order is not applied, and its key stays unused. */
function accountLimited({ detail, limit }: RefusedAnswer): Problem {
  const refused = { ...limited(detail, limit?.retryAfterMs ?? 0), outcome: 'not_applied' } as const
  if (limit === undefined) return refused
  const headers = limitHeaders('account', limit, 0, (limit.burst * MS_PER_SECOND) / limit.perSecond)
  return { ...refused, headers: { ...refused.headers, ...headers } }
}

/** A signed request to the ledger. */
export interface SignedRequest {
  /** Canonical. */
  readonly payload: string
  /** null: the request has no signature. */
  readonly signature: string | null
  readonly proof?: string | null
}

/** For an operation that is, or may be, signed. */
export function signedRefusal(
  refused: RefusedAnswer,
  request: SignedRequest,
  isSignature: EdgeDependencies['isSignature'],
): Problem {
  const { detail, field, keyId } = refused
  return REFUSALS[refused.code].code === 'ERR_SIGNATURE_MISMATCH'
    ? signatureMismatch({ detail, field, keyId }, request, isSignature)
    : refusalProblem(refused)
}

const UNDECODABLE = 'It cannot be decoded as a signature: send base64url or base64 of 64 bytes r||s, or of DER.'

export function signatureMismatch(
  { detail, field, keyId }: Pick<RefusedAnswer, 'detail' | 'field'> & { readonly keyId: string | undefined },
  { payload, signature, proof = null }: SignedRequest,
  isSignature: EdgeDependencies['isSignature'],
): Problem {
  const given = field === 'proof' ? proof : signature
  const told = given === null || isSignature(given) ? detail : `${detail} ${UNDECODABLE}`
  const errors = field === null ? null : [{ field, message: told }]
  const refused = problem('forbidden', 'ERR_SIGNATURE_MISMATCH', told, errors)
  return { ...refused, signed: { keyId, payloadHash: sha256Hex(payload) } }
}

export type Unavailable = Extract<GatewayOutcome, { kind: 'unavailable' }>

const UNAVAILABLE = {
  no_shards: { code: 'ERR_NO_SHARDS', detail: 'The ledger has no shards yet.' },
  no_healthy_shards: { code: 'ERR_NO_HEALTHY_SHARDS', detail: 'No shard of the ledger has an owner at this moment.' },
  shard_unavailable: {
    code: 'ERR_SHARD_UNAVAILABLE',
    detail: 'The shard that decides this is not available at this moment.',
  },
  overloaded: { code: 'ERR_OVERLOADED', detail: 'The shard that decides this has more requests than it can take.' },
} as const satisfies Record<Unavailable['reason'], { code: CodeOf<'shard-unavailable'>; detail: string }>

export function unavailableProblem(reason: Unavailable['reason'], outcome: Problem['outcome']): Problem {
  const { code, detail } = UNAVAILABLE[reason]
  return { ...problem('shard-unavailable', code, detail), outcome }
}

export function noSuchAccount(): Problem {
  return notFound('There is no such account.')
}
