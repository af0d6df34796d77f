/**
 * Access tokens: ES256, `typ` at+jwt (RFC 9068), signed by the service's token key.
 *   V1. A refusal distinguishes an expired token of this ledger, one whose key was revoked, and all other text. The first
 *       two causes are reported only for a valid signature, so that they reveal nothing to a forger.
 *   V2. Verified tokens are remembered by their text, to save the signature's cost; text is malleable, so nothing that
 *       denies hangs on it: expiry, client and session are judged on every use, by the caller of `verify`.
 *   V3. A key that was retired longer ago than any of its tokens can live signs nothing any more, whatever times a
 *       token claims. Nor does one that was revoked, also for tokens that were verified before.
 *   V4. A token lives no longer than tokens live now, also if it was made when they lived longer: revoked sessions are
 *       remembered for as long.
 */
import { createLocalJWKSet, errors, type JWTPayload, jwtVerify, type JWTVerifyOptions, type LocalJWKSet } from 'jose'
import { type Role, ROLES } from '../../actors/account/commands.ts'
import { ok, refuse, type Result } from '../../actors/result.ts'
import { createBoundedCache } from '../../runtime/common/bounded-cache.ts'
import type { Clock } from '../../runtime/ports/clock.ts'
import type { Random } from '../../runtime/ports/random.ts'
import type { ServiceKeys } from '../../runtime/ports/service-keys.ts'
import { rawSignature } from './ecdsa-signature.ts'

export interface AccessTokens {
  /** Rejects as `issue` would now. For callers that spend something before they can issue a token. */
  readonly checkUsable: () => Promise<void>
  readonly issue: (clientId: string, role: Role, sessionId: string) => Promise<string>
  readonly verify: (token: string) => Promise<Result<VerifiedToken, TokenFault>>
}

/** `malformed`: not a token that this ledger issued. `revoked`: its signing key was revoked. */
export type TokenFault = 'malformed' | 'expired' | 'revoked'

export interface VerifiedToken {
  readonly clientId: string
  readonly sessionId: string
  readonly expiresAtMs: number
}

interface CheckedToken extends VerifiedToken {
  readonly keyId: string
}

interface AccessTokenContext {
  readonly serviceKeys: ServiceKeys
  readonly clock: Clock
  readonly random: Random
  readonly ledgerId: string
  readonly ttlMs: number
}

const TOKEN_TYPE = 'at+jwt'
const REQUIRED_CLAIMS = ['iss', 'aud', 'sub', 'role', 'sid', 'jti', 'iat', 'exp']
const JTI_BYTES = 16
/** Ours have about 500 characters. */
const MAX_TOKEN_LENGTH = 4096
const MAX_REMEMBERED = 10_000
/** How long after a rotation an edge may still sign with the key before. */
const RETIREMENT_MARGIN_MS = 300_000

type CurrentDate = NonNullable<JWTVerifyOptions['currentDate']>

export function createAccessTokens(context: AccessTokenContext): AccessTokens {
  const { serviceKeys, clock, random, ledgerId, ttlMs } = context
  const issuer = `urn:ledger:${ledgerId}`
  const verifierNow = createVerifier(serviceKeys)
  // jose asks a date for its time and for nothing else: the clock is the port's.
  const currentDate = { getTime: () => clock.now() } as CurrentDate
  const options: JWTVerifyOptions = {
    algorithms: ['ES256'],
    typ: TOKEN_TYPE,
    issuer,
    audience: ledgerId,
    requiredClaims: REQUIRED_CLAIMS,
    currentDate,
  }
  const remembered = createBoundedCache<string, CheckedToken>(MAX_REMEMBERED)

  async function check(token: string): Promise<Result<CheckedToken, TokenFault>> {
    if (!hasCanonicalSignature(token)) return refuse('malformed')
    try {
      const { payload, protectedHeader } = await jwtVerify(token, verifierNow(), options)
      const verified = readClaims(payload, ttlMs)
      const { kid: keyId } = protectedHeader
      return keyId === undefined || verified === undefined ? refuse('malformed') : ok({ ...verified, keyId })
    } catch (error) {
      return refuse(error instanceof errors.JWTExpired ? 'expired' : 'malformed')
    }
  }

  /** Why a once valid token is invalid now (V2). */
  function faultOf({ expiresAtMs, keyId }: CheckedToken): TokenFault | undefined {
    const key = serviceKeys.published().find((one) => one.purpose === 'token' && one.keyId === keyId)
    if (key === undefined || key.revokedAtMs !== null) return 'revoked'
    const retired = key.retiredAtMs !== null && key.retiredAtMs <= clock.now() - ttlMs - RETIREMENT_MARGIN_MS
    return retired || expiresAtMs <= clock.now() ? 'expired' : undefined
  }

  async function sign(keyId: string, text: string): Promise<Buffer> {
    const [signature] = await serviceKeys.sign(keyId, [text])
    if (signature === undefined) throw new Error('the token key did not sign')
    return rawSignature(Buffer.from(signature, 'base64'))
  }

  return {
    async checkUsable() {
      // No token, and none could be made of it: a token's text has a dot.
      await sign(serviceKeys.current('token'), 'usable')
    },

    async issue(clientId, role, sessionId) {
      const keyId = serviceKeys.current('token')
      const issuedAtS = Math.floor(clock.now() / 1000)
      const header = { alg: 'ES256', typ: TOKEN_TYPE, kid: keyId }
      const claims = {
        iss: issuer,
        aud: ledgerId,
        sub: clientId,
        client_id: clientId,
        role,
        sid: sessionId,
        jti: random.hex(JTI_BYTES),
        iat: issuedAtS,
        exp: issuedAtS + Math.floor(ttlMs / 1000),
      }
      const signed = `${base64url(header)}.${base64url(claims)}`
      return `${signed}.${(await sign(keyId, signed)).toString('base64url')}`
    },

    async verify(token) {
      if (token.length > MAX_TOKEN_LENGTH) return refuse('malformed')
      const known = remembered.get(token)
      const checked = known === undefined ? await check(token) : ok(known)
      if (!checked.ok) return checked
      const fault = faultOf(checked.value)
      if (fault !== undefined) return refuse(fault)
      if (known === undefined) remembered.set(token, checked.value)
      return checked
    },
  }
}

/** Allows one encoding of a signature: no padding, and no other bits after its last byte. */
function hasCanonicalSignature(token: string): boolean {
  const signature = token.slice(token.lastIndexOf('.') + 1)
  return Buffer.from(signature, 'base64url').toString('base64url') === signature
}

function readClaims(payload: JWTPayload, ttlMs: number): VerifiedToken | undefined {
  const { sub, exp, iat, jti } = payload
  const sessionId = payload['sid']
  if (typeof sub !== 'string' || typeof exp !== 'number' || typeof iat !== 'number') return undefined
  if (typeof jti !== 'string' || typeof sessionId !== 'string') return undefined
  return ROLES.some((role) => role === payload['role'])
    ? { clientId: sub, sessionId, expiresAtMs: Math.min(exp * 1000, iat * 1000 + ttlMs) }
    : undefined
}

/** Every key that ever signed tokens: a retired or revoked key is not a forgery. Rebuilt when keys are added. */
function createVerifier(serviceKeys: ServiceKeys): () => LocalJWKSet {
  let verifier: LocalJWKSet | undefined
  let keyIds = ''
  return () => {
    const published = serviceKeys.published().filter((key) => key.purpose === 'token')
    const publishedIds = published.map((key) => key.keyId).join(' ')
    if (verifier === undefined || keyIds !== publishedIds) {
      const keys = published.map(({ keyId, x, y }) => ({
        kty: 'EC',
        crv: 'P-256',
        x,
        y,
        kid: keyId,
        use: 'sig',
        alg: 'ES256',
      }))
      verifier = createLocalJWKSet({ keys })
      keyIds = publishedIds
    }
    return verifier
  }
}

function base64url(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url')
}
