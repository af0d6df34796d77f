/**
 * The keys behind the examples of the OpenAPI document. Published with the standards that they are taken from, so that
 * everybody can make the signatures of the examples. Never use them for anything else.
 */
import { createPrivateKey, type KeyObject } from 'node:crypto'

/** RFC 6979, A.2.5. */
const RFC_6979 = {
  x: 'YP7UuiVanTHJYet0xjVtaMBJuJI7Yfps5mliLmDyn7Y',
  y: 'eQP-EAi4vJmkGunpVii8ZPLxsgwtfp9Rd6PClNRGIpk',
  d: Buffer.from('c9afa9d845ba75166b5c215767b1d6934e50c3db36e89b127b8a622b120f6721', 'hex').toString('base64url'),
}
/** RFC 7515, A.3. */
const RFC_7515 = {
  x: 'f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU',
  y: 'x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0',
  d: 'jpsQnnGQmL-YBIffH1136cspYG6-0iY7X1fCE9-E9LI',
}
/** RFC 7517, A.2. */
const RFC_7517 = {
  x: 'MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4',
  y: '4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM',
  d: '870MB6gfuTJ4HtUnUvYMyJpr5eUZNP4Bk43bVdj3eAE',
}

export const EXAMPLE_KEYS: readonly KeyObject[] = [RFC_6979, RFC_7515, RFC_7517].map((coordinates) =>
  createPrivateKey({ key: { kty: 'EC', crv: 'P-256', ...coordinates }, format: 'jwk' }),
)
