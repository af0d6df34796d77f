/** The edge accepts an access token only as it was issued, and only while its key, session and lifetime are valid. */
import { decodeProtectedHeader } from 'jose'
import { expect, test } from 'vitest'
import { rawSignature } from '../../../../api/auth/ecdsa-signature.ts'
import type { PublishedKey } from '../../../../runtime/ports/service-keys.ts'
import { hmacToken, joined, partsOf, signedToken } from '../../../support/client/client-forged-token.ts'
import { type Members, newAccountKeys } from '../../../support/client/client-keys.ts'
import { bodyOf, HOUR_MS, refusalOf } from '../fakes/edge-fixture.ts'
import { tokenScene } from './token-scene.ts'

type Scene = ReturnType<typeof tokenScene>

/** An issued token with changed header and claims, signed again by a key of the ledger. */
async function forged(scene: Scene, header: object, claims: object, without = ''): Promise<string> {
  const [head = '', payload = ''] = (await scene.issued()).access.split('.')
  const read = (part: string) => JSON.parse(Buffer.from(part, 'base64url').toString()) as object
  const kept = Object.entries({ ...read(payload), ...claims }).filter(([name]) => name !== without)
  const write = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const signed = `${write({ ...read(head), ...header })}.${write(Object.fromEntries(kept))}`
  const { kid = scene.keys.current('token') } = header as { readonly kid?: string }
  const isKnown = scene.keys.published().some(({ keyId }) => keyId === kid)
  const der = Buffer.from(scene.keys.signWith(isKnown ? kid : scene.keys.current('token'), signed), 'base64')
  return `${signed}.${rawSignature(der).toString('base64url')}`
}

function nowS(scene: Scene): number {
  return Math.floor(scene.clock.now() / 1000)
}

function changeKey({ keys: { keys } }: Scene, change: Partial<PublishedKey>, index = 0): void {
  const key = keys[index]
  if (key !== undefined) keys[index] = { ...key, ...change }
}

async function detailOf(scene: Scene, headers: Record<string, string>): Promise<unknown> {
  const response = await scene.get('/v1/transactions', undefined, headers)
  expect(response.status).toBe(401)
  return (await bodyOf(response))['detail']
}

const FORGED: readonly (readonly [header: object, claims: object, without?: string])[] = [
  ...['iss', 'aud', 'sub', 'role', 'sid', 'jti', 'iat', 'exp'].map((claim) => [{}, {}, claim] as const),
  [{ typ: 'JWT' }, {}],
  [{ kid: 'another' }, {}],
  [{ kid: undefined }, {}],
  [{ alg: 'none' }, {}],
  [{ alg: 'HS256' }, {}],
  [{ crit: ['x'], x: 1 }, {}],
  [{}, { iss: 'urn:ledger:another' }],
  [{}, { aud: 'another' }],
  [{}, { role: 'root' }],
  [{}, { exp: 'never' }],
  [{}, { nbf: 9_999_999_999 }],
  [{}, { sub: 7 }],
]
test.for(FORGED)(
  'a token with header %j, claims %j and without %s is 401; the unchanged token is accepted',
  async (difference) => {
    const scene = tokenScene()
    expect(await scene.statusOf(await forged(scene, {}, {}))).toBe(200)
    const response = await scene.get('/v1/transactions', await forged(scene, ...difference))
    expect(response.headers.get('www-authenticate')).toContain('invalid_token')
    expect(await refusalOf(response)).toMatchObject({ status: 401, codes: ['ERR_UNAUTHORIZED'] })
  },
)

test('a token that the token key did not sign is 401', async () => {
  const scene = tokenScene()
  const { header, claims, signature } = partsOf(await scene.tokenFor('viewer'))
  const { keys } = (await bodyOf(await scene.get('/.well-known/jwks.json'))) as { keys: Members[] }
  const published = keys.find(({ kid }) => kid === header['kid']) ?? {}
  const own = newAccountKeys()
  const admin = { ...claims, role: 'admin' }
  for (const [what, token] of Object.entries({
    'another role under the old signature': joined(header, admin, signature),
    'alg none': joined({ ...header, alg: 'none' }, admin, ''),
    'a signature of zeros': joined(header, admin, Buffer.alloc(64).toString('base64url')),
    'HS256 with the public key as JSON': hmacToken(admin, { ...header, alg: 'HS256' }, JSON.stringify(published)),
    'HS256 with a coordinate': hmacToken(admin, { ...header, alg: 'HS256' }, String(published['x'])),
    'another key': signedToken(header, admin, own.privateKey),
    'another key, by its own kid': signedToken({ ...header, kid: 'mine' }, admin, own.privateKey),
    'another key, brought along': signedToken({ ...header, jwk: own.jwk }, admin, own.privateKey),
    'a path as kid': signedToken({ ...header, kid: '../../dev/null' }, admin, own.privateKey),
    'the key for receipts': await forged(scene, { kid: scene.keys.current('receipt') }, {}),
  })) {
    expect([what, await scene.statusOf(token)]).toEqual([what, 401])
  }
})

test('D14: a 401 distinguishes a missing, malformed, expired and revoked token', async () => {
  const scene = tokenScene()
  const token = await scene.tokenFor('viewer')
  const authorization = `Bearer ${token}`
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
  // A token has one encoding: no padding, and no unused bits that are set.
  const sameBytes = `${token.slice(0, -1)}${alphabet[alphabet.indexOf(token.slice(-1)) ^ 1]}`
  expect(await scene.statusOf(token)).toBe(200)
  expect((await scene.get('/v1/transactions', undefined, { authorization: `bearer  ${token}` })).status).toBe(200)
  expect(await detailOf(scene, {})).toMatch(/^The access token is missing/)
  expect((await scene.get(`/v1/transactions?access_token=${token}`)).status).toBe(401)
  const bearers = [`${token}x`, `${token} x`, 'a'.repeat(9000), 'x.y.z', `${token.slice(0, -2)}AA`]
  for (const other of [
    '',
    'Bearer',
    'Bearer ',
    token,
    `Basic ${token}`,
    ...[...bearers, `${token}==`, `${token}=`, sameBytes].map((text) => `Bearer ${text}`),
  ]) {
    const detail = await detailOf(scene, { authorization: other })
    expect([other, detail]).toEqual([other, expect.stringMatching(/^The access token is malformed/)])
  }
  scene.access.revokeSession(scene.access.families.length - 1)
  await scene.clock.advance(5000)
  expect(await detailOf(scene, { authorization })).toMatch(/^The access token was revoked/)
  await scene.clock.advance(HOUR_MS)
  expect(await detailOf(scene, { authorization })).toMatch(/^The access token has expired/)
})

test('V1: the 401 says expired after the lifetime, revoked for a revoked key, and malformed for a wrong signature', async () => {
  const scene = tokenScene()
  const late = await forged(scene, {}, { exp: nowS(scene) })
  expect(await detailOf(scene, { authorization: `Bearer ${late}` })).toMatch(/^The access token has expired/)
  const good = await forged(scene, {}, {})
  changeKey(scene, { revokedAtMs: scene.clock.now() })
  expect(await detailOf(scene, { authorization: `Bearer ${good}` })).toMatch(/^The access token was revoked/)
  const unsigned = good.replace(/[^.]+$/, 'A'.repeat(86))
  expect(await detailOf(scene, { authorization: `Bearer ${unsigned}` })).toMatch(/^The access token is malformed/)
})

test('V2, V4: a token issued with a longer lifetime expires after the configured lifetime, also if the edge cached it', async () => {
  const scene = tokenScene()
  const longer = await forged(scene, {}, { exp: nowS(scene) + 24 * 3600 })
  const shorter = await forged(scene, {}, { exp: nowS(scene) + 60 })
  const statuses = () => Promise.all([longer, shorter].map(scene.statusOf))
  await scene.clock.advance(59_000)
  expect(await statuses()).toEqual([200, 200])
  await scene.clock.advance(1000)
  expect(await statuses()).toEqual([200, 401])
  await scene.clock.advance(HOUR_MS - 62_000)
  expect(await statuses()).toEqual([200, 401])
  await scene.clock.advance(2000)
  expect(await statuses()).toEqual([401, 401])
})

test('V4: a revoked session stays revoked for tokens with longer lifetimes, after the store has deleted it', async () => {
  const scene = tokenScene()
  const token = await forged(scene, {}, { exp: nowS(scene) + 24 * 3600 })
  scene.access.revokeSession(scene.access.families.length - 1)
  expect(await scene.statusOf(token)).toBe(401)
  await scene.clock.advance(HOUR_MS + 61_000)
  scene.access.families.length = 0
  expect(await scene.statusOf(token)).toBe(401)
})

test('V3: after a rotation old tokens stay valid, and a key that retired two hours ago signs no valid token', async () => {
  const scene = tokenScene()
  const before = await scene.tokenFor('viewer')
  const next = scene.keys.rotate()
  changeKey(scene, { retiredAtMs: scene.clock.now() })
  expect(await scene.statusOf(before)).toBe(200)
  expect(decodeProtectedHeader(await scene.tokenFor('viewer')).kid).toBe(next)
  const signed = () => forged(scene, {}, { iat: nowS(scene) + 100_000, exp: nowS(scene) + 100_000 })
  const late = await signed()
  await scene.clock.advance(HOUR_MS)
  expect(await scene.statusOf(late)).toBe(200)
  const index = scene.keys.keys.findIndex(({ keyId }) => keyId === next)
  changeKey(scene, { retiredAtMs: scene.clock.now() - 2 * HOUR_MS }, index)
  expect(await scene.statusOf(await signed())).toBe(401)
})

test('V3: a revoked key invalidates its tokens at once, also those accepted before, and no other token', async () => {
  const scene = tokenScene()
  const before = await scene.tokenFor('viewer')
  expect(await scene.statusOf(before)).toBe(200)
  scene.keys.rotate()
  const after = await scene.tokenFor('viewer')
  changeKey(scene, { revokedAtMs: scene.clock.now() })
  expect([await scene.statusOf(before), await scene.statusOf(after)]).toEqual([401, 200])
})
