/**
 * Tokens for credentials, for assertions that clients sign, and for refresh tokens (D17).
 *   I1. Unknown client, wrong secret, invalid or spent assertion, client that is revoked or cannot be read, and every fault of a refresh token are one answer: `refused`.
 *   I2. Tokens reach the access store hashed only, and no log at all.
 *   I3. Nothing is begun or spent while no access token can be signed, or the client cannot be looked up: a refresh token
 *       works once, and a client that lost it to a failure of ours would have to sign in anew.
 *   I4. A refresh token names its client, and its hash is keyed: an attacker who can write the store's
 *       rows but has no key cannot turn one client's token into another's.
 *   I5. Each network has its own queue for the access store, and few calls there at once, so that valid credentials from
 *       another network get through. Behind an untrusted proxy all clients are one network.
 *   I6. A client begins and renews sessions at a limited rate (session-limit.ts): their rows must not fill the store.
 */
import { createHmac } from 'node:crypto'
import { AccessStoreOverloaded, type ClientRecord, type RefreshOutcome } from '../../runtime/ports/access-store.ts'
import { createSlotsPerHolder, SlotsExhausted } from '../../runtime/common/slots.ts'
import type { EdgeDependencies } from '../http/dependencies.ts'
import type { AccessTokens } from './access-tokens.ts'
import { createSessionLimit, type SessionLimit } from './session-limit.ts'
import { clientNamedInAssertion, createClientAssertions, LONGEST_ASSERTION } from './client-assertions.ts'

export interface TokenPair {
  readonly accessToken: string
  readonly refreshToken: string
}

/** `overloaded`: this network, or all together, have too many logins in flight, or the client has begun too many (I6). */
export type TokenGrant =
  | { readonly kind: 'granted'; readonly tokens: TokenPair }
  | { readonly kind: 'refused'; readonly cause: RefusalCause }
  | { readonly kind: 'overloaded' }

/** For the log alone (I1). */
export type RefusalCause =
  | 'credentials'
  | 'assertion'
  | 'spent_assertion'
  | 'client'
  | 'malformed'
  | 'another_client'
  | Exclude<RefreshOutcome['kind'], 'rotated'>

/** Failures of the store are its `AccessStoreUnavailable`. */
export interface TokenGrants {
  /** `address`: of the connection that the credentials came by. */
  readonly forCredentials: (clientId: string, clientSecret: string, address: string) => Promise<TokenGrant>
  readonly forAssertion: (assertion: string, address: string) => Promise<TokenGrant>
  readonly forRefreshToken: (refreshToken: string, address: string) => Promise<TokenGrant>
}

const OVERLOADED: TokenGrant = { kind: 'overloaded' }
/** No client's name is longer; what is longer is not looked for. */
const LONGEST_CLIENT_ID = 128
const REFRESH_TOKEN_BYTES = 32
/** Random bytes, and whose it is. */
const REFRESH_TOKEN = /^rt_[A-Za-z0-9_-]{43}\.([A-Za-z0-9_-]{1,172})$/
const SESSION_ID_BYTES = 16
export const TOKEN_PATH = '/v1/auth/token'
/** I5: one network's limits on calls at the access store, which takes 68, and on calls that wait. */
const CALLS_OF_ONE_NETWORK = { concurrency: 4, maxWaiting: 64 }
/** A used token that comes back later than this after its use revokes its family. */
const REUSE_GRACE_MS = 10_000

export function createTokenGrants(dependencies: EdgeDependencies, accessTokens: AccessTokens): TokenGrants {
  const { access, clock, jwkOf, networkOf, random, refreshTokenKey, secrets, settings } = dependencies
  const calls = createSlotsPerHolder(CALLS_OF_ONE_NETWORK)
  const audiences = [`urn:ledger:${settings.ledgerId}`, `${settings.baseUrl}${TOKEN_PATH}`]
  const assertions = createClientAssertions({ clock, jwkOf, audiences })

  const hashOf = (token: string): string => createHmac('sha256', refreshTokenKey).update(token, 'utf8').digest('hex')
  const sessionLimit = createSessionLimit(clock)
  const beginSession = createSessionStart(dependencies, accessTokens, { hashOf, sessionLimit })

  async function clientNamed(clientId: string, network: string): Promise<ClientRecord | undefined> {
    const found = mayBeNamed(clientId) ? await calls.run(network, () => access.findClient(clientId)) : undefined
    return found === 'unreadable' ? undefined : found
  }

  async function forCredentials(clientId: string, clientSecret: string, address: string): Promise<TokenGrant> {
    const client = await clientNamed(clientId, networkOf(address))
    let matches: boolean
    try {
      matches = await secrets.verify(client, clientSecret, address)
    } catch {
      return OVERLOADED
    }
    if (client === undefined || client.revokedAtMs !== null || !matches) return refused('credentials')
    return await beginSession(client, (work) => calls.run(networkOf(address), work))
  }

  async function forAssertion(assertion: string, address: string): Promise<TokenGrant> {
    const network = networkOf(address)
    if (assertion.length > LONGEST_ASSERTION) return refused('assertion')
    const client = await clientNamed(clientNamedInAssertion(assertion), network)
    const valid = await assertions.verify(assertion, client)
    if (client === undefined || client.revokedAtMs !== null || valid === undefined) return refused('assertion')
    const assertionHash = hashOf(JSON.stringify(['assertion', client.clientId, valid.id]))
    const { expiresAtMs } = valid
    const run: RunCall = (work) => calls.run(network, work)
    return await beginSession(client, run, () => access.spendAssertion({ assertionHash, expiresAtMs }))
  }

  async function forRefreshToken(refreshToken: string, address: string): Promise<TokenGrant> {
    const network = networkOf(address)
    const clientId = clientNamedIn(refreshToken)
    if (clientId === undefined) return refused('malformed')
    if (!sessionLimit.admits(clientId)) return OVERLOADED
    // The token's contents are known only once the refresh token is spent.
    await accessTokens.checkUsable()
    const client = await calls.run(network, () => access.findClient(clientId))
    const next = refreshTokenOf(clientId, random)
    const atMs = clock.now()
    const exchange = {
      tokenHash: hashOf(refreshToken),
      nextTokenHash: hashOf(next),
      nextExpiresAtMs: atMs + settings.refreshTokenTtlMs,
      atMs,
      reuseGraceMs: REUSE_GRACE_MS,
    }
    const exchanged = await calls.run(network, () => access.rotateFamily(exchange))
    if (exchanged.kind !== 'rotated') return refused(exchanged.kind)
    sessionLimit.count(exchanged.clientId)
    if (exchanged.clientId !== clientId) return refused('another_client')
    if (client === undefined || client === 'unreadable' || client.revokedAtMs !== null) return refused('client')
    const accessToken = await accessTokens.issue(client.clientId, client.role, exchanged.sessionId)
    return { kind: 'granted', tokens: { accessToken, refreshToken: next } }
  }

  return {
    forCredentials: (clientId, clientSecret, address) =>
      unlessOverloaded(() => forCredentials(clientId, clientSecret, address)),
    forAssertion: (assertion, address) => unlessOverloaded(() => forAssertion(assertion, address)),
    forRefreshToken: (refreshToken, address) => unlessOverloaded(() => forRefreshToken(refreshToken, address)),
  }
}

/** Makes a call at the access store in the queue of its network (I5). */
type RunCall = <T>(work: () => Promise<T>) => Promise<T>

/** Signs first: a session begins, and an assertion is spent, only when a token can be signed (I3). */
function createSessionStart(
  { access, clock, random, settings }: EdgeDependencies,
  accessTokens: AccessTokens,
  { hashOf, sessionLimit }: { readonly hashOf: (token: string) => string; readonly sessionLimit: SessionLimit },
) {
  return async (client: ClientRecord, run: RunCall, spend?: () => Promise<boolean>): Promise<TokenGrant> => {
    const { clientId, role } = client
    if (!sessionLimit.admits(clientId)) return OVERLOADED
    sessionLimit.count(clientId)
    const refreshToken = refreshTokenOf(clientId, random)
    const sessionId = random.hex(SESSION_ID_BYTES)
    const accessToken = await accessTokens.issue(clientId, role, sessionId)
    if (spend !== undefined && !(await run(spend))) return refused('spent_assertion')
    const createdAtMs = clock.now()
    const expiresAtMs = createdAtMs + settings.refreshTokenTtlMs
    const family = { sessionId, clientId, tokenHash: hashOf(refreshToken), expiresAtMs, createdAtMs }
    await run(() => access.createFamily(family))
    return { kind: 'granted', tokens: { accessToken, refreshToken } }
  }
}

function refreshTokenOf(clientId: string, random: EdgeDependencies['random']): string {
  const secret = Buffer.from(random.hex(REFRESH_TOKEN_BYTES), 'hex').toString('base64url')
  return `rt_${secret}.${Buffer.from(clientId, 'utf8').toString('base64url')}`
}

function refused(cause: RefusalCause): TokenGrant {
  return { kind: 'refused', cause }
}

async function unlessOverloaded(grant: () => Promise<TokenGrant>): Promise<TokenGrant> {
  try {
    return await grant()
  } catch (error) {
    if (error instanceof AccessStoreOverloaded || error instanceof SlotsExhausted) return OVERLOADED
    throw error
  }
}

function clientNamedIn(refreshToken: string): string | undefined {
  const [, named] = REFRESH_TOKEN.exec(refreshToken) ?? []
  const clientId = named === undefined ? '' : Buffer.from(named, 'base64url').toString('utf8')
  return mayBeNamed(clientId) ? clientId : undefined
}

/** Anybody may make a name up; of these a store can be asked. */
function mayBeNamed(clientId: string): boolean {
  return clientId.length > 0 && clientId.length <= LONGEST_CLIENT_ID && !clientId.includes('\0')
}
