/**
 * Access tokens: ES256, `typ` at+jwt (RFC 9068), signed by the service's token key.
 *   V1. Whatever is wrong with a token, the answer is the same: none.
 *   V2. Verified tokens are remembered by their text, to save the signature's cost; text is malleable, so nothing that
 *       denies hangs on it: expiry, client and session are judged on every use, by the caller of `verify`.
 *   V3. A key that was retired longer ago than any of its tokens can live signs nothing any more, whatever times a
 *       token claims. Nor does one that was revoked, also for tokens that were verified before.
 *   V4. A token lives no longer than tokens live now, also if it was made when they lived longer: revoked sessions are
 *       remembered for as long.
 */
import { createLocalJWKSet, type JWTPayload, jwtVerify, type JWTVerifyOptions, type LocalJWKSet } from 'jose'
import { type Role, ROLES } from '../../actors/account/commands.ts'
import { createBoundedCache } from '../../runtime/bounded-cache.ts'
import type { Clock } from '../../runtime/ports/clock.ts'
import type { Random } from '../../runtime/ports/random.ts'
import type { ServiceKeys } from '../../runtime/ports/service-keys.ts'
import { rawSignature } from './ecdsa-signature.ts'

export interface AccessTokens {
  /** Rejects as `issue` would now. For whoever spends something before a token can be issued. */
  readonly checkUsable: () => Promise<void>
  readonly issue: (clientId: string, role: Role, sessionId: string) => Promise<string>
  /** Undefined: no token of this ledger, or one that has expired. */
  readonly verify: (token: string) => Promise<VerifiedToken | undefined>
}

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
  const keySet = createKeySet(serviceKeys, () => clock.now() - ttlMs - RETIREMENT_MARGIN_MS)
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

  async function check(token: string): Promise<CheckedToken | undefined> {
    try {
      const { payload, protectedHeader } = await jwtVerify(token, keySet().keys, options)
      const verified = readClaims(payload, ttlMs)
      const { kid: keyId } = protectedHeader
      return keyId === undefined || verified === undefined ? undefined : { ...verified, keyId }
    } catch {
      return undefined
    }
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
      if (token.length > MAX_TOKEN_LENGTH) return undefined
      const known = remembered.get(token)
      const verified = known ?? (await check(token))
      if (verified === undefined || verified.expiresAtMs <= clock.now()) return undefined
      if (!keySet().keyIds.has(verified.keyId)) return undefined
      if (known === undefined) remembered.set(token, verified)
      return verified
    },
  }
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

interface UsableKeys {
  readonly keyIds: ReadonlySet<string>
  readonly keys: LocalJWKSet
}

/** The published token keys that can still have live tokens; made anew only when they change. */
function createKeySet(serviceKeys: ServiceKeys, retiredBefore: () => number): () => UsableKeys {
  let made: UsableKeys | undefined
  return () => {
    const bound = retiredBefore()
    const usable = serviceKeys
      .published()
      .filter((key) => key.purpose === 'token' && (key.retiredAtMs === null || key.retiredAtMs > bound))
      .filter((key) => key.revokedAtMs === null)
    const { keyIds } = made ?? {}
    if (made === undefined || keyIds?.size !== usable.length || !usable.every((key) => keyIds.has(key.keyId))) {
      const keys = usable.map(({ keyId, x, y }) => ({
        kty: 'EC',
        crv: 'P-256',
        x,
        y,
        kid: keyId,
        use: 'sig',
        alg: 'ES256',
      }))
      made = { keyIds: new Set(usable.map((key) => key.keyId)), keys: createLocalJWKSet({ keys }) }
    }
    return made
  }
}

function base64url(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url')
}
