/** An endpoint: where it is, who may use it, what it does. The frame around it is the edge's. */
import type { Context } from 'hono'
import type { Caller, Role } from '../../actors/account/commands.ts'
import type { AccountScope } from '../../actors/account-scope.ts'
import type { OwnRate } from '../../actors/rate.ts'
import type { Result } from '../../actors/result.ts'
import type { ClientTurns, Turn } from '../../runtime/edge/client-turns.ts'
import type { ClientLimit } from '../../runtime/edge/client-limits.ts'
import type { SharedSlots } from '../../runtime/common/slots.ts'
import type { Trail } from '../../runtime/ports/trail.ts'
import type { FailureThrottle } from '../auth/failure-throttle.ts'
import type { Grant } from '../auth/grants.ts'
import type { RefusalLog } from '../auth/refusal-log.ts'
import type { TokenGrants } from '../auth/token-grants.ts'
import type { EdgeDependencies, EdgeSettings } from '../http/dependencies.ts'
import type { KnownContent } from '../http/known-content.ts'
import type { PageTokens } from '../http/page-token.ts'
import type { Problem } from '../http/problem.ts'
import type { Query } from '../http/query.ts'
import type { Reply, StaticReply, StreamReply } from '../http/reply.ts'
import type { StaticFiles } from '../http/static-files.ts'
import type { StreamPlaces } from '../http/stream-places.ts'
import type { EventTail } from './event-tail.ts'
import type { NewGroupId } from './group-ids.ts'
import type { GroupBodies } from './linked-group.ts'
import type { Operation } from './operation.ts'
import type { PreferWait } from './prefer-wait.ts'

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
  /** The client's own; `limit` may be a default. */
  readonly rate: OwnRate
  readonly endpoint: Endpoint
  /** undefined: the client has no rate limit. One request of it is taken already. */
  readonly limit: ClientLimit | undefined
  /** Ends the client's turn before the reply, for a request that goes on with other turns or waits. */
  readonly endTurn: Turn['end']
  /** Checks token and role again, for a response that takes long (E3). */
  readonly admitAgain: () => Promise<Result<Grant, Problem>>
}

/** The document, and the pages that explain it. */
export interface InterfaceContents {
  /** Path of the page to which `/` leads a browser. */
  readonly startPage: string
  readonly document: KnownContent
  readonly assets: StaticFiles
  readonly console: () => Promise<KnownContent>
  readonly consoleAssets: StaticFiles
  readonly reference: () => Promise<KnownContent>
  /** The reference as one page without scripts. */
  readonly plainPage: () => Promise<KnownContent>
  readonly guides: () => Promise<KnownContent>
  /** undefined: there is no such guide. */
  readonly guide: (slug: string) => Promise<KnownContent | undefined>
  readonly errorList: () => Promise<KnownContent>
  /** undefined: there is no such type. */
  readonly errorPage: (slug: string) => Promise<KnownContent | undefined>
}

/** The dependencies of the endpoints that also an edge without a ledger has. */
export interface PublicContext {
  readonly readiness: EdgeDependencies['readiness']
  readonly settings: Pick<EdgeSettings, 'environment'> & { readonly ledgerId: string | null }
  readonly contents: InterfaceContents
}

/** The dependencies of the edge, and what its endpoints share. */
export interface EdgeContext extends EdgeDependencies {
  readonly contents: InterfaceContents
  readonly tokens: PageTokens
  readonly newGroupId: NewGroupId
  readonly preferWait: PreferWait
  readonly groupBodies: GroupBodies
  readonly streamPlaces: StreamPlaces
  readonly eventTail: EventTail
  /** For streams of events, and requests that wait for one. */
  readonly eventPlaces: StreamPlaces
  readonly webhookTests: SharedSlots
  readonly tokenGrants: TokenGrants
  readonly failureThrottle: FailureThrottle
  readonly refusalLog: RefusalLog
  readonly clientTurns: ClientTurns
  readonly searchTurns: ClientTurns
}

export interface Endpoint extends Operation {
  readonly roles: readonly Role[]
  /**
   * An act of this operation is recorded if an administrator does it (endpoint/administer.ts). Names of members of the body
   * that the entry repeats; of a list it has the number of items, except of `boundary`.
   */
  readonly administrative?: readonly string[]
  readonly handle: (context: EdgeContext, call: GuardedCall) => EndpointOutcome | Promise<EndpointOutcome>
}

/** Outside the reach of access tokens. */
export interface PublicEndpoint<Context = PublicContext> extends Operation {
  readonly roles: null
  readonly handle: (context: Context, call: PublicCall) => PublicOutcome | Promise<PublicOutcome>
}

export type AnyEndpoint = Endpoint | PublicEndpoint<EdgeContext>

/** The endpoints of one subject. */
export interface Tag {
  readonly name: string
  readonly description: string
  readonly endpoints: readonly AnyEndpoint[]
}

export const EVERYONE: readonly Role[] = ['viewer', 'transactor', 'admin']
export const SUBMITTERS: readonly Role[] = ['transactor', 'admin']
export const ADMINS: readonly Role[] = ['admin']

/** The endpoint reads and checks these parameters itself. */
export function queryNames({ parameters = [] }: Operation): readonly string[] {
  return parameters.filter((one) => one.in === 'query').map(({ name }) => name)
}

/** A value of the path, percent-decoded. */
export function pathValue(call: PublicCall, name: string): string {
  return call.http.req.param(name) ?? ''
}
