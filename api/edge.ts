/**
 * The HTTP edge: routes, and the checks before each of them.
 *   E1. Under /v1 the token is judged before anything else is said, unknown routes and wrong methods included (D7);
 *       then the role; then the endpoint judges the rest.
 *   E2. Each endpoint has its own row with the roles that may call it.
 *   E3. An answer that goes on being made is judged again before each part of it: what was revoked ends it, too.
 *   E4. An edge with an untrusted clock issues and accepts no token (503): it cannot tell which tokens have expired.
 */
import { type Context, Hono } from 'hono'
import { refuse, type Result } from '../actors/result.ts'
import type { Trail } from '../runtime/ports/trail.ts'
import { createAccessTokens } from './auth/access-tokens.ts'
import { createAuthentication } from './auth/authentication.ts'
import { createFailureThrottle } from './auth/failure-throttle.ts'
import { createGrants, type Grant } from './auth/grants.ts'
import { createRefusalLog } from './auth/refusal-log.ts'
import { createTokenGrants } from './auth/token-grants.ts'
import type { EdgeDependencies } from './http/dependencies.ts'
import { checkBody } from './http/body.ts'
import { type Cors, createCors } from './http/cors.ts'
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
import { type Query, queryOf } from './http/query.ts'
import { textReply } from './http/reply.ts'
import { isVersioned, requestPath } from './http/request-path.ts'
import { PathRouter } from './http/router.ts'
import type { EndpointOutcome, GuardedRoute, PublicOutcome, PublicRoute, Route } from './endpoint/route.ts'
import { changeStatus } from './routes/accounts/change-status.ts'
import { createAccount } from './routes/accounts/create-account.ts'
import { createAttestation } from './routes/attestations/create-attestation.ts'
import { createExport } from './routes/portability/create-export.ts'
import { createImport } from './routes/portability/create-import.ts'
import { createFungibleToken } from './routes/fungible-tokens/create-fungible-token.ts'
import { createNftClass } from './routes/nfts/create-nft-class.ts'
import { createSettlementGroup } from './routes/settlement-groups/create-settlement-group.ts'
import { docs } from './routes/service/docs.ts'
import { changeAccountActor, getAccountActor } from './routes/accounts/account-actor.ts'
import { eraseAccount } from './routes/accounts/erase-account.ts'
import { errorPage } from './routes/service/error-page.ts'
import { getAccountState } from './routes/accounts/get-account-state.ts'
import { getAccount } from './routes/accounts/get-account.ts'
import { getAttestation } from './routes/attestations/get-attestation.ts'
import { getBalance } from './routes/accounts/get-balance.ts'
import { getFungibleToken } from './routes/fungible-tokens/get-fungible-token.ts'
import { getImportKey } from './routes/portability/get-import-key.ts'
import { getImport } from './routes/portability/get-import.ts'
import { getLiabilityProof } from './routes/assertions/get-liability-proof.ts'
import { getNftClass } from './routes/nfts/get-nft-class.ts'
import { getNftInstance } from './routes/nfts/get-nft-instance.ts'
import { getProvenance } from './routes/assertions/get-provenance.ts'
import { getReceipt } from './routes/transactions/get-receipt.ts'
import { getSettlementGroup } from './routes/settlement-groups/get-settlement-group.ts'
import { getShard } from './routes/shards/get-shard.ts'
import { getTransaction } from './routes/transactions/get-transaction.ts'
import { health } from './routes/service/health.ts'
import { issueToken } from './routes/service/issue-token.ts'
import { keySet } from './routes/service/key-set.ts'
import { listAccountNfts } from './routes/accounts/list-account-nfts.ts'
import { listAccounts } from './routes/accounts/list-accounts.ts'
import { listAttestations } from './routes/attestations/list-attestations.ts'
import { listAuditChain } from './routes/accounts/list-audit-chain.ts'
import { listBalances } from './routes/accounts/list-balances.ts'
import { listFungibleTokens } from './routes/fungible-tokens/list-fungible-tokens.ts'
import { declineSettlementGroup } from './routes/settlement-groups/decline-settlement-group.ts'
import { listExpectations } from './routes/accounts/list-expectations.ts'
import { listGroupTransactions } from './routes/settlement-groups/list-group-transactions.ts'
import { listShards } from './routes/shards/list-shards.ts'
import { listNftClasses } from './routes/nfts/list-nft-classes.ts'
import { listNftHistory } from './routes/nfts/list-nft-history.ts'
import { listNftInstances } from './routes/nfts/list-nft-instances.ts'
import { listTransactions } from './routes/transactions/list-transactions.ts'
import { openApi } from './routes/service/openapi.ts'
import { putShardHealth } from './routes/shards/put-shard-health.ts'
import { mintNft } from './routes/nfts/mint-nft.ts'
import { proveCompliance } from './routes/assertions/prove-compliance.ts'
import { proveLiabilities } from './routes/assertions/prove-liabilities.ts'
import { proveProvenance } from './routes/assertions/prove-provenance.ts'
import { ready } from './routes/service/ready.ts'
import { revertSettlementGroup } from './routes/settlement-groups/revert-settlement-group.ts'
import { revokeAttestation } from './routes/attestations/revoke-attestation.ts'
import { root } from './routes/service/root.ts'
import { rotateKey } from './routes/accounts/rotate-key.ts'
import { submitBatch } from './routes/transactions/submit-batch.ts'
import { submitTransaction } from './routes/transactions/submit-transaction.ts'
import { verifyAssertion } from './routes/assertions/verify-assertion.ts'

type Authorize = (http: Context) => Promise<Result<Grant, Problem>>

/** Needs no start and no stop: all it does, it does for a request. */
export function createEdge(dependencies: EdgeDependencies): Hono {
  const { access, clock, log, random, serviceKeys, settings } = dependencies
  const { accessTokenTtlMs, errorBase, ledgerId } = settings
  const accessTokens = createAccessTokens({ serviceKeys, clock, random, ledgerId, ttlMs: accessTokenTtlMs })
  const authenticate = createAuthentication(accessTokens, createGrants({ access, clock, log }))
  const { clockTrusted } = dependencies
  const authorize: Authorize = async (http) =>
    clockTrusted() ? authenticate(http.req.header('authorization') ?? null) : refuse(downstreamFailure())
  const contents = interfaceContents(errorBase)
  const routes = [
    ...ledgerRoutes(dependencies),
    whileTrusted(
      clockTrusted,
      issueToken({
        grants: createTokenGrants(dependencies, accessTokens),
        throttle: createFailureThrottle(clock),
        refusals: createRefusalLog(clock, log),
        clientAddress: dependencies.clientAddress,
        accessTokenTtlMs,
      }),
    ),
    health(),
    ready({ readiness: dependencies.readiness, environment: settings.environment, ledgerId }),
    keySet(dependencies),
    errorPage(errorBase),
    openApi(contents.document),
    docs(contents.page),
    root(),
  ]

  const app = new Hono({ getPath: requestPath, router: new PathRouter() })
  const { metrics } = dependencies
  const measured = metrics === undefined ? undefined : { metrics, clock }
  const cors = createCors(settings.corsOrigins)
  const frame = createFrame({ random, log, errorBase, cors, measured })
  for (const route of routes) {
    const failed = route.access === 'token' && route.asksLedger ? withOutcome('unknown') : undefined
    app.on(route.method, route.path, (http) =>
      frame.respond(http, route, (trail) => serve(route, http, trail, authorize), failed),
    )
  }
  app.notFound((http) => frame.respond(http, UNROUTED, () => unrouted({ app, http, authorize, cors })))
  app.onError((error, http) =>
    frame.respond(http, UNROUTED, () => {
      throw error
    }),
  )
  return app
}

/** E4. */
function whileTrusted(clockTrusted: () => boolean, route: PublicRoute): PublicRoute {
  return { ...route, handle: async (call) => (clockTrusted() ? route.handle(call) : downstreamFailure()) }
}

/** The endpoints that need a token. */
function ledgerRoutes(dependencies: EdgeDependencies): readonly GuardedRoute[] {
  const tokens = createPageTokens(dependencies.pageTokenKey)
  const newGroupId = createGroupIds(dependencies.random, dependencies.pageTokenKey)
  const preferWait = createPreferWait(dependencies.clock)
  const groupBodies = createGroupBodies(dependencies.reads)
  return [
    submitTransaction(dependencies, preferWait),
    submitBatch(dependencies),
    listTransactions(dependencies, tokens),
    listGroupTransactions(dependencies, tokens, preferWait),
    getTransaction(dependencies, preferWait),
    getReceipt(dependencies),
    createAccount(dependencies),
    listAccounts(dependencies, tokens),
    getAccount(dependencies),
    rotateKey(dependencies),
    changeStatus(dependencies),
    eraseAccount(dependencies),
    getAccountActor(dependencies),
    changeAccountActor(dependencies, 'pause'),
    changeAccountActor(dependencies, 'resume'),
    listAuditChain(dependencies, tokens),
    getAccountState(dependencies),
    listBalances(dependencies, tokens),
    getBalance(dependencies),
    listAccountNfts(dependencies, tokens),
    createFungibleToken(dependencies),
    listFungibleTokens(dependencies, tokens),
    getFungibleToken(dependencies),
    createNftClass(dependencies),
    listNftClasses(dependencies, tokens),
    getNftClass(dependencies),
    mintNft(dependencies),
    listNftInstances(dependencies, tokens),
    getNftInstance(dependencies),
    listNftHistory(dependencies, tokens),
    getProvenance(dependencies, tokens),
    createAttestation(dependencies),
    listAttestations(dependencies, tokens),
    getAttestation(dependencies),
    revokeAttestation(dependencies),
    createSettlementGroup(dependencies, newGroupId),
    getSettlementGroup(dependencies, preferWait, groupBodies),
    revertSettlementGroup(dependencies, groupBodies),
    declineSettlementGroup(dependencies),
    listExpectations(dependencies, tokens),
    proveLiabilities(dependencies),
    proveProvenance(dependencies),
    proveCompliance(dependencies),
    verifyAssertion(dependencies),
    getLiabilityProof(dependencies, tokens),
    createExport(dependencies),
    getImportKey(dependencies),
    createImport(dependencies),
    getImport(dependencies),
    listShards(dependencies, tokens),
    getShard(dependencies),
    putShardHealth(dependencies),
  ]
}

async function serve(route: Route, http: Context, trail: Trail, authorize: Authorize): Promise<PublicOutcome> {
  if (route.access === 'public') {
    const query = queryOf(route, http)
    return (await refusedQuery(route, query, http)) ?? route.handle({ http, trail, query })
  }
  const admitAgain = (): Promise<Result<Grant, Problem>> => admit(route, http, authorize)
  const grant = await admitAgain()
  if (!grant.ok) return grant.error
  const query = queryOf(route, http)
  const refused = await refusedQuery(route, query, http)
  return refused ?? route.handle({ http, trail, query, ...grant.value, admitAgain })
}

/** A route with parameters reports its own errors. */
async function refusedQuery(route: Route, query: Query, { req }: Context): Promise<Problem | undefined> {
  const hasParameters = route.query !== undefined && route.query.length > 0
  const refused = hasParameters ? undefined : query.problem()
  return refused === undefined ? undefined : ((await checkBody(req.raw)) ?? refused)
}

/** Checks token and role, before the ledger is asked for anything. */
async function admit(route: GuardedRoute, http: Context, authorize: Authorize): Promise<Result<Grant, Problem>> {
  let grant: Result<Grant, Problem>
  try {
    grant = await authorize(http)
  } catch {
    grant = { ok: false, error: downstreamFailure() }
  }
  if (!grant.ok) {
    return route.asksLedger && isUnavailable(grant.error)
      ? { ok: false, error: withOutcome('not_applied')(grant.error) }
      : grant
  }
  const { role } = grant.value.caller
  return route.roles.includes(role) ? grant : { ok: false, error: roleForbidden(role, route.roles) }
}

function withOutcome(outcome: UnansweredOutcome): (refused: Problem) => Problem {
  return (refused) => ({ ...refused, outcome })
}

interface UnroutedCall {
  readonly app: Hono
  readonly http: Context
  readonly authorize: Authorize
  readonly cors: Cors
}

/**
 * OPTIONS lists the methods without a token: a browser sends none with its preflight. Any other method: 405 if another
 * method has a route, else 404; under /v1 the token is checked first.
 */
async function unrouted({ app, http, authorize, cors }: UnroutedCall): Promise<EndpointOutcome> {
  const { method, path } = http.req
  const allowed = methodsOf(app, path)
  const allow = { allow: allowed.join(', ') }
  if (method === 'OPTIONS' && allowed.length > 0) {
    return textReply(204, 'text/plain', '', { ...allow, ...cors.preflightHeaders(http, allowed) })
  }
  if (isVersioned(path)) {
    const grant = await authorize(http)
    if (!grant.ok) return grant.error
  }
  if (allowed.length === 0) return notFound('No such resource.')
  const refused = problem('method-not-allowed', 'ERR_METHOD_NOT_ALLOWED', 'The resource has no such method.')
  return { ...refused, headers: allow }
}

/** Empty if no route matches. */
function methodsOf(app: Hono, path: string): readonly string[] {
  const routed = (['GET', 'POST', 'PUT'] as const).filter((method) => app.router.match(method, path)[0].length > 0)
  return routed.length === 0
    ? []
    : [...routed.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : method)), 'OPTIONS']
}
