/**
 * Tokens for credentials, and tokens for refresh tokens (D17).
 *   I1. Unknown client, wrong secret, client that is revoked or cannot be read, and every fault of a refresh token are one answer: `refused`.
 *   I2. Tokens reach the access store hashed only, and no log at all.
 *   I3. Nothing is begun or spent while no access token can be signed, or the client cannot be looked up: a refresh token
 *       works once, and a client that lost it to a failure of ours would have to sign in anew.
 *   I4. A refresh token names its client, and its hash is keyed: whoever can write the store's rows and has no key can make
 *       of a token that was given to one client none of another.
 */
import { createHmac } from 'node:crypto'
import type { EdgeDependencies } from '../dependencies.ts'
import type { AccessTokens } from './access-tokens.ts'

export interface TokenPair {
  readonly accessToken: string
  readonly refreshToken: string
}

/** `overloaded`: more secrets are being checked than can be; nothing is said about this one. */
export type TokenGrant =
  | { readonly kind: 'granted'; readonly tokens: TokenPair }
  | { readonly kind: 'refused' }
  | { readonly kind: 'overloaded' }

/** Failures of the store are its `AccessStoreUnavailable`. */
export interface TokenGrants {
  /** `address`: of the connection that the credentials came by. */
  readonly forCredentials: (clientId: string, clientSecret: string, address: string) => Promise<TokenGrant>
  readonly forRefreshToken: (refreshToken: string) => Promise<TokenGrant>
}

/** No client's name is longer; what is longer is not looked for. */
const LONGEST_CLIENT_ID = 128
const REFRESH_TOKEN_BYTES = 32
/** Random bytes, and whose it is. */
const REFRESH_TOKEN = /^rt_[A-Za-z0-9_-]{43}\.([A-Za-z0-9_-]{1,172})$/
const SESSION_ID_BYTES = 16
/** A used token that comes back later than this after its use revokes its family. */
const REUSE_GRACE_MS = 10_000

export function createTokenGrants(dependencies: EdgeDependencies, accessTokens: AccessTokens): TokenGrants {
  const { access, clock, log, random, refreshTokenKey, secrets, settings } = dependencies

  const newRefreshToken = (clientId: string): string => {
    const secret = Buffer.from(random.hex(REFRESH_TOKEN_BYTES), 'hex').toString('base64url')
    return `rt_${secret}.${Buffer.from(clientId, 'utf8').toString('base64url')}`
  }
  const hashOf = (token: string): string => createHmac('sha256', refreshTokenKey).update(token, 'utf8').digest('hex')
  const refused = (cause: string): TokenGrant => {
    log.warn('refresh_refused', { cause })
    return { kind: 'refused' }
  }

  return {
    async forCredentials(clientId, clientSecret, address) {
      const found = mayBeNamed(clientId) ? await access.findClient(clientId) : undefined
      const client = found === 'unreadable' ? undefined : found
      let matches: boolean
      try {
        matches = await secrets.verify(client, clientSecret, address)
      } catch (error) {
        log.warn('secret_not_checked', { failure: error instanceof Error ? error.name : typeof error })
        return { kind: 'overloaded' }
      }
      if (client === undefined || client.revokedAtMs !== null || !matches) return { kind: 'refused' }
      const refreshToken = newRefreshToken(client.clientId)
      const sessionId = random.hex(SESSION_ID_BYTES)
      const accessToken = await accessTokens.issue(client.clientId, client.role, sessionId)
      const createdAtMs = clock.now()
      await access.createFamily({
        sessionId,
        clientId: client.clientId,
        tokenHash: hashOf(refreshToken),
        expiresAtMs: createdAtMs + settings.refreshTokenTtlMs,
        createdAtMs,
      })
      return { kind: 'granted', tokens: { accessToken, refreshToken } }
    },

    async forRefreshToken(refreshToken) {
      // What is to be signed is known only once it is spent.
      await accessTokens.checkUsable()
      const clientId = clientNamedIn(refreshToken)
      if (clientId === undefined) return refused('malformed')
      const client = await access.findClient(clientId)
      const next = newRefreshToken(clientId)
      const atMs = clock.now()
      const exchanged = await access.rotateFamily({
        tokenHash: hashOf(refreshToken),
        nextTokenHash: hashOf(next),
        nextExpiresAtMs: atMs + settings.refreshTokenTtlMs,
        atMs,
        reuseGraceMs: REUSE_GRACE_MS,
      })
      if (exchanged.kind !== 'rotated') return refused(exchanged.kind)
      if (exchanged.clientId !== clientId) return refused('another_client')
      if (client === undefined || client === 'unreadable' || client.revokedAtMs !== null) return { kind: 'refused' }
      const accessToken = await accessTokens.issue(client.clientId, client.role, exchanged.sessionId)
      return { kind: 'granted', tokens: { accessToken, refreshToken: next } }
    },
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
