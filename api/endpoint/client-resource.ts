/**
 * Clients, for administrators.
 *   L1. Clients exist for administrators without a scope. Any other client gets 403.
 *   L2. A new client has no more rights than the administrator that makes it.
 */
import type { Administrator, RefusedMaker } from '../../runtime/ports/access-store.ts'
import { type OwnRate, showOwnRate } from '../../actors/rate.ts'
import { type Problem, problem, unauthorized } from '../http/problem.ts'
import type { GuardedCall } from './route.ts'

type Boundary = Administrator['boundary']

/** L1. The role is judged before. */
export function refusedScope({ scope }: Pick<GuardedCall, 'scope'>): Problem | undefined {
  if (scope.whole) return undefined
  return problem(
    'forbidden',
    'ERR_FORBIDDEN',
    'The client is limited to accounts. This needs a client of all accounts.',
  )
}

export function makerOf({ caller, rate }: Pick<GuardedCall, 'caller' | 'rate'>): Administrator {
  return { clientId: caller.clientId, boundary: caller.boundary, rate }
}

/** L2: every right that exceeds the maker's. */
export function excessRights(
  { boundary, rate }: Pick<Administrator, 'boundary' | 'rate'>,
  maker: Administrator,
): Problem | undefined {
  const errors = [
    ...(isWithin(boundary, maker.boundary) ? [] : [{ field: 'boundary', message: 'exceeds that of this client' }]),
    ...(isSlower(rate, maker.rate)
      ? []
      : [{ field: 'rate', message: `must be at most ${showOwnRate(maker.rate) ?? ''}, the rate of this client` }]),
  ]
  if (errors.length === 0) return undefined
  return problem(
    'forbidden',
    'ERR_FORBIDDEN',
    'A client cannot have more rights than the client that makes it.',
    errors,
  )
}

function isWithin(boundary: Boundary, limit: Boundary): boolean {
  if (boundary === false || limit === true) return true
  return Array.isArray(boundary) && Array.isArray(limit) && boundary.every((token) => limit.includes(token))
}

function isSlower(rate: OwnRate, limit: OwnRate): boolean {
  if (limit === null || limit === 'none') return true
  return rate !== null && rate !== 'none' && rate.perSecond <= limit.perSecond && rate.burst <= limit.burst
}

/** For an administrator whose rights have changed since the request was admitted. */
export function makerProblem(refused: RefusedMaker): Problem {
  return refused === 'maker_revoked'
    ? unauthorized('The access token was revoked.', 'invalid_token')
    : problem('forbidden', 'ERR_FORBIDDEN', 'The rights of this client have changed. Send the request again.')
}

export function isRefusedMaker(outcome: unknown): outcome is RefusedMaker {
  return outcome === 'maker_revoked' || outcome === 'maker_changed'
}
