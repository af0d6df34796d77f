/**
 * Tokens for credentials, and tokens for refresh tokens (D17).
 *   I1. Unknown client, wrong secret, revoked client and every fault of a refresh token are one answer: `refused`.
 *   I2. Tokens reach the access store hashed only, and no log at all.
 *   I3. Nothing is begun or spent while no access token can be signed: a refresh token works once, and a client that
 *       lost it to a failure of ours would have to sign in anew.
 */
import { createHash } from 'node:crypto'
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
const SESSION_ID_BYTES = 16
/** A used token that comes back later than this after its use revokes its family. */
const REUSE_GRACE_MS = 10_000

export function createTokenGrants(dependencies: EdgeDependencies, accessTokens: AccessTokens): TokenGrants {
  const { access, clock, log, random, secrets, settings } = dependencies

  const newRefreshToken = (): string =>
    `rt_${Buffer.from(random.hex(REFRESH_TOKEN_BYTES), 'hex').toString('base64url')}`

  return {
    async forCredentials(clientId, clientSecret, address) {
      const client = clientId.length > LONGEST_CLIENT_ID ? undefined : await access.findClient(clientId)
      let matches: boolean
      try {
        matches = await secrets.verify(client, clientSecret, address)
      } catch (error) {
        log.warn('secret_not_checked', { failure: error instanceof Error ? error.name : typeof error })
        return { kind: 'overloaded' }
      }
      if (client === undefined || client.revokedAtMs !== null || !matches) return { kind: 'refused' }
      const refreshToken = newRefreshToken()
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
      // Whose token it is, and so what is to be signed, is known only once it is spent.
      await accessTokens.checkUsable()
      const next = newRefreshToken()
      const atMs = clock.now()
      const exchanged = await access.rotateFamily({
        tokenHash: hashOf(refreshToken),
        nextTokenHash: hashOf(next),
        nextExpiresAtMs: atMs + settings.refreshTokenTtlMs,
        atMs,
        reuseGraceMs: REUSE_GRACE_MS,
      })
      if (exchanged.kind !== 'rotated') {
        log.warn('refresh_refused', { cause: exchanged.kind })
        return { kind: 'refused' }
      }
      const client = await access.findClient(exchanged.clientId)
      if (client === undefined || client.revokedAtMs !== null) return { kind: 'refused' }
      const accessToken = await accessTokens.issue(client.clientId, client.role, exchanged.sessionId)
      return { kind: 'granted', tokens: { accessToken, refreshToken: next } }
    },
  }
}

function hashOf(token: string): string {
  return createHash('sha256').update(token, 'utf8').digest('hex')
}
