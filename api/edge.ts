/**
 * The HTTP edge: routes, and the checks before each of them.
 *   E1. Under /v1 the token is judged before anything else is said, unknown routes and wrong methods included (D7);
 *       then the role, then the client's rate limit; then the endpoint judges the rest.
 *   E2. Each endpoint names the roles that may call it.
 *   E3. An answer that goes on being made is judged again before each part of it: what was revoked ends it, too.
 *   E4. An edge with an untrusted clock issues and accepts no token (503): it cannot tell which tokens have expired.
 */
import { type Context, Hono } from 'hono'
import { refuse, type Result } from '../actors/result.ts'
import { createSharedSlots } from '../runtime/common/slots.ts'
import { administer } from './endpoint/administer.ts'
import { createClientTurns, createSearchTurns } from '../runtime/edge/client-turns.ts'
import type { ClientLimit, ClientLimits } from '../runtime/edge/client-limits.ts'
import type { Trail } from '../runtime/ports/trail.ts'
import { type AccessTokens, createAccessTokens } from './auth/access-tokens.ts'
import { createAuthentication } from './auth/authentication.ts'
import { createFailureThrottle } from './auth/failure-throttle.ts'
import { createGrants, type Grant } from './auth/grants.ts'
import { createRefusalLog } from './auth/refusal-log.ts'
import { createTokenGrants } from './auth/token-grants.ts'
import type { EdgeDependencies } from './http/dependencies.ts'
import { checkBody } from './http/body.ts'
import { type Cors, createCors } from './http/cors.ts'
import { inTurn } from './endpoint/client-turn.ts'
import { createEventTail, EVENT_LISTENERS } from './endpoint/event-tail.ts'
import { createFrame, UNROUTED } from './frame.ts'
import { createGroupIds } from './endpoint/group-ids.ts'
import { createGroupBodies } from './endpoint/linked-group.ts'
import { interfaceContents } from './docs/contents.ts'
import { createPageTokens } from './http/page-token.ts'
import { createPreferWait } from './endpoint/prefer-wait.ts'
import {
  downstreamFailure,
  isUnavailable,
  notFound,
  type Problem,
  problem,
  roleForbidden,
  type UnansweredOutcome,
} from './http/problem.ts'
import { type QueriedRoute, type Query, queryOf } from './http/query.ts'
import { textReply } from './http/reply.ts'
import { isVersioned, requestPath, sentPath } from './http/request-path.ts'
import { PathRouter } from './http/router.ts'
import {
  type AnyEndpoint,
  type EdgeContext,
  type Endpoint,
  type EndpointOutcome,
  type PublicOutcome,
  queryNames,
} from './endpoint/route.ts'
import { clientLimited, withLimitHeaders } from './endpoint/request-limit.ts'
import { createStreamPlaces } from './http/stream-places.ts'
import type { Operation } from './endpoint/operation.ts'
import { TAGS } from './openapi/tags.ts'
import { isServedBy } from './routes/service/console.ts'
import { WEBHOOK_TEST_SLOTS } from './routes/webhooks/test-webhook.ts'

type Authorize = (http: Context) => Promise<Result<Grant, Problem>>

/** Needs no start and no stop: all it does, it does for a request. */
export function createEdge(dependencies: EdgeDependencies): Hono {
  const { access, clientLimits, clock, clockTrusted, log, metrics, random, serviceKeys, settings, tracing } =
    dependencies
  const { accessTokenTtlMs, errorBase, ledgerId } = settings
  const accessTokens = createAccessTokens({ serviceKeys, clock, random, ledgerId, ttlMs: accessTokenTtlMs })
  const authenticate = createAuthentication(accessTokens, createGrants({ access, clock, log }))
  const authorize: Authorize = async (http) =>
    clockTrusted() ? authenticate(http.req.header('authorization') ?? null) : refuse(downstreamFailure())
  const context = contextOf(dependencies, accessTokens)
  const app = new Hono({ getPath: requestPath, router: new PathRouter() })
  const measured = metrics === undefined ? undefined : { metrics, clock }
  const cors = createCors(settings.corsOrigins)
  const frame = createFrame({ random, log, errorBase, cors, measured, tracing })
  for (const endpoint of TAGS.flatMap(({ endpoints }) => endpoints).filter(isServedBy(settings))) {
    const { changes, method, path } = endpoint
    const served = { context, authorize, query: { path, query: queryNames(endpoint) } }
    const failed = changes === undefined ? undefined : withOutcome('unknown')
    app.on(method, path, (http) =>
      frame.respond(http, endpoint, (trail) => serve(endpoint, served, http, trail), failed),
    )
  }
  app.notFound((http) => frame.respond(http, UNROUTED, () => unrouted({ app, http, authorize, cors, clientLimits })))
  app.onError((error, http) =>
    frame.respond(http, UNROUTED, () => {
      throw error
    }),
  )
  return app
}

function contextOf(dependencies: EdgeDependencies, accessTokens: AccessTokens): EdgeContext {
  const { clock, log, pageTokenKey, random, reads, settings } = dependencies
  const clientTurns = createClientTurns(clock)
  return {
    ...dependencies,
    contents: interfaceContents(settings),
    tokens: createPageTokens(pageTokenKey),
    newGroupId: createGroupIds(random, pageTokenKey),
    preferWait: createPreferWait(clock),
    groupBodies: createGroupBodies(reads),
    streamPlaces: createStreamPlaces(),
    eventTail: createEventTail(dependencies),
    eventPlaces: createStreamPlaces(EVENT_LISTENERS),
    webhookTests: createSharedSlots(WEBHOOK_TEST_SLOTS),
    tokenGrants: createTokenGrants(dependencies, accessTokens),
    failureThrottle: createFailureThrottle(clock),
    refusalLog: createRefusalLog(clock, log),
    clientTurns,
    searchTurns: createSearchTurns(clock, clientTurns),
  }
}

interface Served {
  readonly context: EdgeContext
  readonly authorize: Authorize
  readonly query: QueriedRoute
}

async function serve(
  endpoint: AnyEndpoint,
  { context, authorize, query: known }: Served,
  http: Context,
  trail: Trail,
): Promise<PublicOutcome> {
  if (endpoint.roles === null) {
    const query = queryOf(known, http)
    return (await refusedQuery(endpoint, known, query, http)) ?? endpoint.handle(context, { http, trail, query })
  }
  const admitAgain = (): Promise<Result<Grant, Problem>> => admit(endpoint, http, authorize)
  const grant = await admitAgain()
  if (!grant.ok) return grant.error
  const { caller: client, rate } = grant.value
  const limit = context.clientLimits.of(client.clientId, rate)
  if (limit?.take(1) === 0) return refusedByLimit(limit, endpoint)
  const outcome = await inTurn(context, { http, admitAgain, endpoint }, grant.value, async (admitted, endTurn) => {
    const query = queryOf(known, http)
    const refused = await refusedQuery(endpoint, known, query, http)
    const call = { http, trail, query, ...admitted, limit, endpoint, admitAgain, endTurn }
    if (refused !== undefined) return refused
    const handle = () => endpoint.handle(context, call)
    // An endpoint with a body records it once it is read.
    return endpoint.body === undefined ? administer(context, call, {}, handle) : handle()
  })
  return limit === undefined ? outcome : withLimitHeaders(outcome, limit)
}

/** Before the body is read: its key, if it has one, stays unused. */
async function refusedByLimit(limit: ClientLimit, { changes }: Pick<Endpoint, 'changes'>): Promise<Problem> {
  await limit.refusal()
  const refused = withLimitHeaders(clientLimited(limit), limit)
  return changes === undefined ? refused : withOutcome('not_applied')(refused)
}

/** An endpoint with parameters reports its own errors. One without a body ignores what is sent as a body. */
async function refusedQuery(
  { body }: AnyEndpoint,
  { query: known }: QueriedRoute,
  query: Query,
  { req }: Context,
): Promise<Problem | undefined> {
  const refused = known.length > 0 ? undefined : query.problem()
  if (refused === undefined || body === undefined) return refused
  return (await checkBody(req.raw)) ?? refused
}

/** Checks token and role, before the ledger is asked for anything. */
async function admit(endpoint: Endpoint, http: Context, authorize: Authorize): Promise<Result<Grant, Problem>> {
  let grant: Result<Grant, Problem>
  try {
    grant = await authorize(http)
  } catch {
    grant = { ok: false, error: downstreamFailure() }
  }
  if (!grant.ok) {
    return endpoint.changes !== undefined && isUnavailable(grant.error)
      ? { ok: false, error: withOutcome('not_applied')(grant.error) }
      : grant
  }
  const { role } = grant.value.caller
  return endpoint.roles.includes(role) ? grant : { ok: false, error: roleForbidden(role, endpoint.roles) }
}

function withOutcome(outcome: UnansweredOutcome): (refused: Problem) => Problem {
  return (refused) => ({ ...refused, outcome })
}

interface UnroutedCall {
  readonly app: Hono
  readonly http: Context
  readonly authorize: Authorize
  readonly cors: Cors
  readonly clientLimits: ClientLimits
}

/**
 * OPTIONS lists the methods without a token: a browser sends none with its preflight. Any other method: 405 if another
 * method has a route, else 404; under /v1 the token is checked first.
 */
async function unrouted({ app, http, authorize, cors, clientLimits }: UnroutedCall): Promise<EndpointOutcome> {
  const { method, path } = http.req
  const allowed = methodsOf(app, path)
  const allow = { allow: allowed.join(', ') }
  if (method === 'OPTIONS' && allowed.length > 0) {
    return textReply(204, 'text/plain', '', { ...allow, ...cors.preflightHeaders(http, allowed) })
  }
  if (isVersioned(path)) {
    const grant = await authorize(http)
    if (!grant.ok) return grant.error
    const { caller, rate } = grant.value
    const limit = clientLimits.of(caller.clientId, rate)
    if (limit?.take(1) === 0) return refusedByLimit(limit, {})
  }
  if (allowed.length === 0) return slashRedirect(app, http) ?? notFound('No such resource.')
  const refused = problem('method-not-allowed', 'ERR_METHOD_NOT_ALLOWED', 'The resource has no such method.')
  return { ...refused, headers: allow }
}

/** Pages are also found under their path with a slash at the end, as people write it. */
function slashRedirect(app: Hono, http: Context): EndpointOutcome | undefined {
  const { method, path } = http.req
  const page = path.slice(0, -1)
  const isPage = path.endsWith('/') && !isVersioned(path) && methodsOf(app, page).includes(method)
  return isPage ? textReply(308, 'text/plain; charset=utf-8', '', { location: sentPath(http).slice(0, -1) }) : undefined
}

const METHODS = ['GET', 'POST', 'PUT', 'DELETE'] as const satisfies readonly Operation['method'][]

/** Empty if no route matches. */
function methodsOf(app: Hono, path: string): readonly string[] {
  const routed = METHODS.filter((method) => app.router.match(method, path)[0].length > 0)
  return routed.length === 0
    ? []
    : [...routed.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : method)), 'OPTIONS']
}
