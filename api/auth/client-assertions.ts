/**
 * Assertions that a client signs with its own key, in place of a secret (private_key_jwt: RFC 7523, OpenID Connect Core 9).
 *   S1. ES256 only. `iss` and `sub` are the client, `aud` is this ledger or its token endpoint and nothing beside it, `exp` is
 *       at most five minutes ahead, and `jti` is there: the caller spends it once.
 *   S2. The work is the same for a client that does not exist or has no key.
 */
import { decodeJwt, type JWK, jwtVerify, type JWTVerifyOptions } from 'jose'
import type { ClientRecord } from '../../runtime/ports/access-store.ts'
import type { Clock } from '../../runtime/ports/clock.ts'

export interface ClientAssertions {
  /** undefined: the assertion is not the client's, or is not valid now. */
  readonly verify: (assertion: string, client: ClientRecord | undefined) => Promise<ValidAssertion | undefined>
}

export interface ValidAssertion {
  readonly id: string
  /** No edge accepts the assertion from then on. Milliseconds since 1970. */
  readonly expiresAtMs: number
}

export interface ClientAssertionContext {
  readonly clock: Clock
  /** The JWK of a compressed point in base64url. */
  readonly jwkOf: (publicKey: string) => object
  /** Accepted values of `aud`. */
  readonly audiences: readonly string[]
}

export const ASSERTION_TYPE = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer'
/** Those of the TypeScript client have about 350 characters. */
export const LONGEST_ASSERTION = 4_096
const LONGEST_ID = 256
const LONGEST_LIFE_S = 300
/** How far the client's clock may be off. */
const TOLERANCE_S = 10
const REQUIRED_CLAIMS = ['iss', 'sub', 'aud', 'exp', 'jti']
/** S2: this key, the example of RFC 7515, A.3, admits no client. */
const STRANGER: JWK = {
  kty: 'EC',
  crv: 'P-256',
  x: 'f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU',
  y: 'x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0',
}

type CurrentDate = NonNullable<JWTVerifyOptions['currentDate']>

export function createClientAssertions({ clock, jwkOf, audiences }: ClientAssertionContext): ClientAssertions {
  const currentDate = { getTime: () => clock.now() } as CurrentDate
  return {
    async verify(assertion, client) {
      const key = client?.publicKey ?? null
      const clientId = client?.clientId ?? ''
      try {
        const { payload } = await jwtVerify(assertion, key === null ? STRANGER : (jwkOf(key) as JWK), {
          algorithms: ['ES256'],
          issuer: clientId,
          subject: clientId,
          audience: [...audiences],
          requiredClaims: REQUIRED_CLAIMS,
          clockTolerance: TOLERANCE_S,
          currentDate,
        })
        const { aud, exp = 0, jti = '' } = payload
        const isBounded = exp <= clock.now() / 1_000 + LONGEST_LIFE_S + TOLERANCE_S
        const isNamed = jti !== '' && jti.length <= LONGEST_ID
        if (key === null || typeof aud !== 'string' || !isBounded || !isNamed) return undefined
        return { id: jti, expiresAtMs: Math.ceil((exp + TOLERANCE_S) * 1_000) }
      } catch {
        return undefined
      }
    },
  }
}

/** The client that an assertion names, before it is verified; empty if none. */
export function clientNamedInAssertion(assertion: string): string {
  try {
    const { sub } = decodeJwt(assertion)
    return typeof sub === 'string' ? sub : ''
  } catch {
    return ''
  }
}
