/**
 * The HTTP edge: routes, and what stands in front of each of them.
 *   E1. Under /v1 the token is judged before anything else is said, unknown routes and wrong methods included (D7);
 *       then the role; then the endpoint judges the rest.
 *   E2. No endpoint is reachable without a row of its own that says who may use it.
 *   E3. An answer that goes on being made is judged again before each part of it: what was revoked ends it, too.
 */
import { type Context, Hono } from 'hono'
import type { Result } from '../actors/result.ts'
import type { Trail } from '../runtime/ports/trail.ts'
import { createAccessTokens } from './auth/access-tokens.ts'
import { createAuthentication } from './auth/authentication.ts'
import { createFailureThrottle } from './auth/failure-throttle.ts'
import { createGrants, type Grant } from './auth/grants.ts'
import { createTokenGrants } from './auth/token-grants.ts'
import type { EdgeDependencies } from './dependencies.ts'
import { createFrame, isVersioned, UNROUTED } from './frame.ts'
import { createGroupIds } from './group-ids.ts'
import { interfaceContents } from './openapi/contents.ts'
import { createPageTokens } from './page-token.ts'
import { createPreferWait } from './prefer-wait.ts'
import { downstreamFailure, isUnavailable, notFound, type Problem, problem, type UnansweredOutcome } from './problem.ts'
import { requestPath } from './request-path.ts'
import type { EndpointOutcome, GuardedRoute, Route } from './route.ts'
import { changeStatus } from './routes/change-status.ts'
import { createAccount } from './routes/create-account.ts'
import { createAttestation } from './routes/create-attestation.ts'
import { createExport } from './routes/create-export.ts'
import { createImport } from './routes/create-import.ts'
import { createFungibleToken } from './routes/create-fungible-token.ts'
import { createNftClass } from './routes/create-nft-class.ts'
import { createSettlementGroup } from './routes/create-settlement-group.ts'
import { docs } from './routes/docs.ts'
import { eraseAccount } from './routes/erase-account.ts'
import { errorPage } from './routes/error-page.ts'
import { getAccountState } from './routes/get-account-state.ts'
import { getAccount } from './routes/get-account.ts'
import { getAttestation } from './routes/get-attestation.ts'
import { getBalance } from './routes/get-balance.ts'
import { getFungibleToken } from './routes/get-fungible-token.ts'
import { getImportKey } from './routes/get-import-key.ts'
import { getImport } from './routes/get-import.ts'
import { getLiabilityProof } from './routes/get-liability-proof.ts'
import { getNftClass } from './routes/get-nft-class.ts'
import { getNftInstance } from './routes/get-nft-instance.ts'
import { getProvenance } from './routes/get-provenance.ts'
import { getReceipt } from './routes/get-receipt.ts'
import { getSettlementGroup } from './routes/get-settlement-group.ts'
import { getShard } from './routes/get-shard.ts'
import { getTransaction } from './routes/get-transaction.ts'
import { health } from './routes/health.ts'
import { issueToken } from './routes/issue-token.ts'
import { keySet } from './routes/key-set.ts'
import { listAccountNfts } from './routes/list-account-nfts.ts'
import { listAccounts } from './routes/list-accounts.ts'
import { listAttestations } from './routes/list-attestations.ts'
import { listAuditChain } from './routes/list-audit-chain.ts'
import { listBalances } from './routes/list-balances.ts'
import { listFungibleTokens } from './routes/list-fungible-tokens.ts'
import { listGroupTransactions } from './routes/list-group-transactions.ts'
import { listShards } from './routes/list-shards.ts'
import { listNftClasses } from './routes/list-nft-classes.ts'
import { listNftHistory } from './routes/list-nft-history.ts'
import { listNftInstances } from './routes/list-nft-instances.ts'
import { listTransactions } from './routes/list-transactions.ts'
import { openApi } from './routes/openapi.ts'
import { putShardHealth } from './routes/put-shard-health.ts'
import { mintNft } from './routes/mint-nft.ts'
import { proveCompliance } from './routes/prove-compliance.ts'
import { proveLiabilities } from './routes/prove-liabilities.ts'
import { proveProvenance } from './routes/prove-provenance.ts'
import { ready } from './routes/ready.ts'
import { revertSettlementGroup } from './routes/revert-settlement-group.ts'
import { revokeAttestation } from './routes/revoke-attestation.ts'
import { rotateKey } from './routes/rotate-key.ts'
import { submitBatch } from './routes/submit-batch.ts'
import { submitTransaction } from './routes/submit-transaction.ts'
import { verifyAssertion } from './routes/verify-assertion.ts'

type Authorise = (http: Context) => Promise<Result<Grant, Problem>>

/** Needs no start and no stop: all it does, it does for a request. */
export function createEdge(dependencies: EdgeDependencies): Hono {
  const { access, clock, log, random, serviceKeys, settings } = dependencies
  const { accessTokenTtlMs, errorBase, ledgerId } = settings
  const accessTokens = createAccessTokens({ serviceKeys, clock, random, ledgerId, ttlMs: accessTokenTtlMs })
  const authenticate = createAuthentication(accessTokens, createGrants({ access, clock, log, accessTokenTtlMs }))
  const authorise: Authorise = (http) => authenticate(http.req.header('authorization') ?? null)
  const contents = interfaceContents(errorBase)
  const routes = [
    ...ledgerRoutes(dependencies),
    issueToken(createTokenGrants(dependencies, accessTokens), createFailureThrottle(clock), accessTokenTtlMs),
    health(),
    ready({ readiness: dependencies.readiness, environment: settings.environment, ledgerId }),
    keySet(dependencies),
    errorPage(errorBase),
    openApi(contents),
    docs(contents),
  ]

  const app = new Hono({ getPath: requestPath })
  const { metrics } = dependencies
  const measured = metrics === undefined ? undefined : { metrics, clock }
  const frame = createFrame({ random, log, errorBase, measured })
  for (const route of routes) {
    const failed = route.access === 'token' && route.asksLedger ? withOutcome('unknown') : undefined
    app.on(route.method, route.path, (http) =>
      frame.respond(http, route, (trail) => serve(route, http, trail, authorise), failed),
    )
  }
  app.notFound((http) => frame.respond(http, UNROUTED, () => unrouted(app, http, authorise)))
  app.onError((error, http) =>
    frame.respond(http, UNROUTED, () => {
      throw error
    }),
  )
  return app
}

/** The endpoints that need a token. */
function ledgerRoutes(dependencies: EdgeDependencies): readonly GuardedRoute[] {
  const tokens = createPageTokens(dependencies.pageTokenKey)
  const newGroupId = createGroupIds(dependencies.random, dependencies.pageTokenKey)
  const preferWait = createPreferWait(dependencies.clock)
  return [
    submitTransaction(dependencies),
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
    getSettlementGroup(dependencies, preferWait),
    revertSettlementGroup(dependencies),
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

async function serve(route: Route, http: Context, trail: Trail, authorise: Authorise): Promise<EndpointOutcome> {
  if (route.access === 'public') return route.handle({ http, trail })
  const admitAgain = (): Promise<Result<Grant, Problem>> => admit(route, http, authorise)
  const grant = await admitAgain()
  return grant.ok ? route.handle({ http, trail, ...grant.value, admitAgain }) : grant.error
}

/** Token and role. What fails here never got near the ledger. */
async function admit(route: GuardedRoute, http: Context, authorise: Authorise): Promise<Result<Grant, Problem>> {
  let grant: Result<Grant, Problem>
  try {
    grant = await authorise(http)
  } catch {
    grant = { ok: false, error: downstreamFailure() }
  }
  if (!grant.ok) {
    return route.asksLedger && isUnavailable(grant.error)
      ? { ok: false, error: withOutcome('not_applied')(grant.error) }
      : grant
  }
  if (route.roles.includes(grant.value.caller.role)) return grant
  return { ok: false, error: problem('forbidden', 'ERR_FORBIDDEN', 'The role of the client does not permit this.') }
}

function withOutcome(outcome: UnansweredOutcome): (refused: Problem) => Problem {
  return (refused) => ({ ...refused, outcome })
}

/** No route: 405 where another method has one, else 404; under /v1 the token first. */
async function unrouted(app: Hono, http: Context, authorise: Authorise): Promise<EndpointOutcome> {
  const { path } = http.req
  if (isVersioned(path)) {
    const grant = await authorise(http)
    if (!grant.ok) return grant.error
  }
  const allowed = (['GET', 'POST', 'PUT'] as const).filter((method) => app.router.match(method, path)[0].length > 0)
  if (allowed.length === 0) return notFound('There is nothing under this address.')
  const names = allowed.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method]))
  const refused = problem('method-not-allowed', 'ERR_METHOD_NOT_ALLOWED', 'The resource has no such method.')
  return { ...refused, headers: { allow: names.join(', ') } }
}
