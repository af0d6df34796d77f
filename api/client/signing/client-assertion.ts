/** Assertions that a client signs in place of sending a secret (private_key_jwt: RFC 7523, OpenID Connect Core 9). */
import { base64url, utf8 } from './bytes.ts'
import { type AccountKey, importKey, type PrivateJwk, signText } from './keys.ts'

/** The private key of a client: PEM (PKCS #8), a JWK, or a key of `importKey`. */
export type ClientKey = string | PrivateJwk | Pick<AccountKey, 'privateKey'>

export interface AssertionFields {
  readonly clientId: string
  /** Names the ledger: no other ledger accepts the assertion. */
  readonly audience: string
  /** Milliseconds since 1970. */
  readonly nowMs: number
}

const ASSERTION_TYPE = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer'
/** The ledger accepts five minutes at most. The clocks may differ by most of that in either direction. */
const LIFE_S = 120
const ID_BYTES = 16

/** The body of a token request, with a new assertion. Throws a TypeError for a key that is not on P-256. */
export async function assertionRequest(
  key: ClientKey,
  { clientId, audience, nowMs }: AssertionFields,
): Promise<Readonly<Record<string, string>>> {
  const imported = typeof key === 'object' && 'privateKey' in key ? key : await importKey(key)
  const iat = Math.floor(nowMs / 1_000)
  const jti = base64url(crypto.getRandomValues(new Uint8Array(ID_BYTES)))
  const claims = { iss: clientId, sub: clientId, aud: audience, jti, iat, exp: iat + LIFE_S }
  const signed = [{ alg: 'ES256', typ: 'JWT' }, claims].map((part) => base64url(utf8(JSON.stringify(part)))).join('.')
  const assertion = `${signed}.${await signText(imported, signed)}`
  return { client_assertion_type: ASSERTION_TYPE, client_assertion: assertion }
}
