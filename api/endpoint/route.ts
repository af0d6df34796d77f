/** An endpoint: where it is, who may use it, what it does. The frame around it is the edge's. */
import type { Context } from 'hono'
import type { Caller, Role } from '../../actors/account/commands.ts'
import type { AccountScope } from '../../actors/account-scope.ts'
import type { Result } from '../../actors/result.ts'
import type { Trail } from '../../runtime/ports/trail.ts'
import type { Grant } from '../auth/grants.ts'
import type { Problem } from '../http/problem.ts'
import type { Query } from '../http/query.ts'
import type { Operation } from './operation.ts'
import type { Reply, StaticReply, StreamReply } from '../http/reply.ts'

export type EndpointOutcome = Reply | StreamReply | Problem
export type PublicOutcome = EndpointOutcome | StaticReply

export interface PublicCall {
  readonly http: Context
  /** Goes with what is asked of the ledger. */
  readonly trail: Trail
  readonly query: Query
}

export interface GuardedCall extends PublicCall {
  readonly caller: Caller
  /** The accounts that there are for this client. It stays at the edge. */
  readonly scope: AccountScope
  /** Checks token and role again, for a response that takes long (E3). */
  readonly admitAgain: () => Promise<Result<Grant, Problem>>
}

interface RouteBase {
  readonly method: 'GET' | 'POST' | 'PUT'
  /** Hono's pattern. */
  readonly path: string
  /** Query parameters, which the route reads and checks itself. Absent or empty: the route has none. */
  readonly query?: readonly string[]
}

/** Outside the reach of access tokens. */
export interface PublicRoute extends RouteBase {
  readonly access: 'public'
  readonly handle: (call: PublicCall) => PublicOutcome | Promise<PublicOutcome>
}

export interface GuardedRoute extends RouteBase {
  readonly access: 'token'
  readonly roles: readonly Role[]
  /** Whether it asks the ledger for a change, so that its every 503 carries an `outcome` (D8). */
  readonly asksLedger: boolean
  readonly handle: (call: GuardedCall) => EndpointOutcome | Promise<EndpointOutcome>
}

export type Route = PublicRoute | GuardedRoute

export const EVERYONE: readonly Role[] = ['viewer', 'transactor', 'admin']
export const SUBMITTERS: readonly Role[] = ['transactor', 'admin']
export const ADMINS: readonly Role[] = ['admin']

/** The members of a route that its description decides. */
export function guarded(operation: Operation): Omit<GuardedRoute, 'handle'> {
  const { changes, roles } = operation
  return { access: 'token', ...placed(operation), roles: roles ?? [], asksLedger: changes !== undefined }
}

/** The same for a route that needs no token. */
export function open(operation: Operation): Omit<PublicRoute, 'handle'> {
  return { access: 'public', ...placed(operation) }
}

function placed({ method, path, parameters = [] }: Operation): RouteBase {
  return { method, path, query: parameters.filter((one) => one.in === 'query').map(({ name }) => name) }
}

/** A value of the path, percent-decoded. */
export function pathValue(call: PublicCall, name: string): string {
  return call.http.req.param(name) ?? ''
}
