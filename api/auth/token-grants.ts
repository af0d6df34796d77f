/**
 * Tokens for credentials, and tokens for refresh tokens (D17).
 *   I1. Unknown client, wrong secret, client that is revoked or cannot be read, and every fault of a refresh token are one answer: `refused`.
 *   I2. Tokens reach the access store hashed only, and no log at all.
 *   I3. Nothing is begun or spent while no access token can be signed, or the client cannot be looked up: a refresh token
 *       works once, and a client that lost it to a failure of ours would have to sign in anew.
 *   I4. A refresh token names its client, and its hash is keyed: an attacker who can write the store's
 *       rows but has no key cannot turn one client's token into another's.
 *   I5. Each network has its own queue for the access store, and few calls there at once, so that valid credentials from
 *       another network get through. Behind an untrusted proxy all clients are one network.
 */
import { createHmac } from 'node:crypto'
import { AccessStoreOverloaded, type RefreshOutcome } from '../../runtime/ports/access-store.ts'
import { createSlotsPerHolder, SlotsExhausted } from '../../runtime/common/slots.ts'
import type { EdgeDependencies } from '../http/dependencies.ts'
import type { AccessTokens } from './access-tokens.ts'

export interface TokenPair {
  readonly accessToken: string
  readonly refreshToken: string
}

/** `overloaded`: this network, or all together, have too many logins in flight; this one was not checked. */
export type TokenGrant =
  | { readonly kind: 'granted'; readonly tokens: TokenPair }
  | { readonly kind: 'refused'; readonly cause: RefusalCause }
  | { readonly kind: 'overloaded' }

/** For the log alone (I1). */
export type RefusalCause =
  | 'credentials'
  | 'client'
  | 'malformed'
  | 'another_client'
  | Exclude<RefreshOutcome['kind'], 'rotated'>

/** Failures of the store are its `AccessStoreUnavailable`. */
export interface TokenGrants {
  /** `address`: of the connection that the credentials came by. */
  readonly forCredentials: (clientId: string, clientSecret: string, address: string) => Promise<TokenGrant>
  readonly forRefreshToken: (refreshToken: string, address: string) => Promise<TokenGrant>
}

/** No client's name is longer; what is longer is not looked for. */
const LONGEST_CLIENT_ID = 128
const REFRESH_TOKEN_BYTES = 32
/** Random bytes, and whose it is. */
const REFRESH_TOKEN = /^rt_[A-Za-z0-9_-]{43}\.([A-Za-z0-9_-]{1,172})$/
const SESSION_ID_BYTES = 16
/** I5: one network's limits on calls at the access store, which takes 68, and on calls that wait. */
const CALLS_OF_ONE_NETWORK = { concurrency: 4, maxWaiting: 64 }
/** A used token that comes back later than this after its use revokes its family. */
const REUSE_GRACE_MS = 10_000

export function createTokenGrants(dependencies: EdgeDependencies, accessTokens: AccessTokens): TokenGrants {
  const { access, clock, networkOf, random, refreshTokenKey, secrets, settings } = dependencies
  const calls = createSlotsPerHolder(CALLS_OF_ONE_NETWORK)

  const newRefreshToken = (clientId: string): string => {
    const secret = Buffer.from(random.hex(REFRESH_TOKEN_BYTES), 'hex').toString('base64url')
    return `rt_${secret}.${Buffer.from(clientId, 'utf8').toString('base64url')}`
  }
  const hashOf = (token: string): string => createHmac('sha256', refreshTokenKey).update(token, 'utf8').digest('hex')

  async function forCredentials(clientId: string, clientSecret: string, address: string): Promise<TokenGrant> {
    const network = networkOf(address)
    const found = mayBeNamed(clientId) ? await calls.run(network, () => access.findClient(clientId)) : undefined
    const client = found === 'unreadable' ? undefined : found
    let matches: boolean
    try {
      matches = await secrets.verify(client, clientSecret, address)
    } catch {
      return { kind: 'overloaded' }
    }
    if (client === undefined || client.revokedAtMs !== null || !matches) return refused('credentials')
    const refreshToken = newRefreshToken(client.clientId)
    const sessionId = random.hex(SESSION_ID_BYTES)
    const accessToken = await accessTokens.issue(client.clientId, client.role, sessionId)
    const createdAtMs = clock.now()
    const family = {
      sessionId,
      clientId: client.clientId,
      tokenHash: hashOf(refreshToken),
      expiresAtMs: createdAtMs + settings.refreshTokenTtlMs,
      createdAtMs,
    }
    await calls.run(network, () => access.createFamily(family))
    return { kind: 'granted', tokens: { accessToken, refreshToken } }
  }

  async function forRefreshToken(refreshToken: string, address: string): Promise<TokenGrant> {
    const network = networkOf(address)
    const clientId = clientNamedIn(refreshToken)
    if (clientId === undefined) return refused('malformed')
    // The token's contents are known only once the refresh token is spent.
    await accessTokens.checkUsable()
    const client = await calls.run(network, () => access.findClient(clientId))
    const next = newRefreshToken(clientId)
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
    if (exchanged.clientId !== clientId) return refused('another_client')
    if (client === undefined || client === 'unreadable' || client.revokedAtMs !== null) return refused('client')
    const accessToken = await accessTokens.issue(client.clientId, client.role, exchanged.sessionId)
    return { kind: 'granted', tokens: { accessToken, refreshToken: next } }
  }

  return {
    forCredentials: (clientId, clientSecret, address) =>
      unlessOverloaded(() => forCredentials(clientId, clientSecret, address)),
    forRefreshToken: (refreshToken, address) => unlessOverloaded(() => forRefreshToken(refreshToken, address)),
  }
}

function refused(cause: RefusalCause): TokenGrant {
  return { kind: 'refused', cause }
}

async function unlessOverloaded(grant: () => Promise<TokenGrant>): Promise<TokenGrant> {
  try {
    return await grant()
  } catch (error) {
    if (error instanceof AccessStoreOverloaded || error instanceof SlotsExhausted) return { kind: 'overloaded' }
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
