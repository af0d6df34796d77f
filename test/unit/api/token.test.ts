import { createLocalJWKSet, decodeProtectedHeader, jwtVerify } from 'jose'
import { describe, expect, test, vi } from 'vitest'
import { hmacToken, joined, partsOf, signedToken } from '../../support/client-forged-token.ts'
import { type Members, newAccountKeys } from '../../support/client-keys.ts'
import { bodyOf, clientOf, createEdgeFixture, HOUR_MS, LEDGER_ID, refusalOf, SECRET } from './edge-fixture.ts'
import { AccessStoreUnavailable } from '../../../runtime/ports/access-store.ts'

const CREDENTIALS = { client_id: 'ann', client_secret: SECRET }

function fixture() {
  const edge = createEdgeFixture()
  edge.access.clients.set('ann', clientOf('ann', 'transactor'))
  return edge
}

describe('POST /v1/auth/token', () => {
  test('gives an ES256 token of RFC 9068 with every claim, and a refresh token', async () => {
    const edge = fixture()
    const response = await edge.post('/v1/auth/token', CREDENTIALS)
    expect(response.status).toBe(200)
    expect(response.headers.get('cache-control')).toBe('no-store')
    const body = await bodyOf(response)
    expect(Object.keys(body)).toEqual(['access_token', 'token_type', 'expires_in', 'refresh_token'])
    expect(body).toMatchObject({ token_type: 'Bearer', expires_in: 3600 })
    const token = String(body['access_token'])
    const jwks = (await bodyOf(await edge.get('/.well-known/jwks.json'))) as never
    const { payload } = await jwtVerify(token, createLocalJWKSet(jwks), { currentDate: new Date(edge.clock.now()) })
    expect(decodeProtectedHeader(token)).toEqual({ alg: 'ES256', typ: 'at+jwt', kid: edge.keys.current('token') })
    expect(payload).toMatchObject({ aud: LEDGER_ID, sub: 'ann', role: 'transactor' })
    expect(payload['sid']).toBe(edge.access.families[0]?.sessionId)
    expect(Number(payload.exp) - Number(payload.iat)).toBe(3600)
    expect(payload.iss).toBeTypeOf('string')
    expect(payload.jti).toBeTypeOf('string')
  })

  test('many tokens in a row all verify, whatever their signatures look like in DER', async () => {
    const edge = fixture()
    for (let round = 0; round < 40; round += 1) {
      const { access_token: token } = await bodyOf(await edge.post('/v1/auth/token', CREDENTIALS))
      expect((await edge.get('/v1/transactions', String(token))).status).toBe(200)
    }
  })

  test('takes grant_type client_credentials and ignores extra fields', async () => {
    const body = { ...CREDENTIALS, grant_type: 'client_credentials', scope: ['x'] }
    expect((await fixture().post('/v1/auth/token', body)).status).toBe(200)
  })

  test('hands the store no token in the clear', async () => {
    const edge = fixture()
    const { refresh_token: refreshToken } = await bodyOf(await edge.post('/v1/auth/token', CREDENTIALS))
    expect(edge.access.families[0]?.tokenHash).toMatch(/^[0-9a-f]{64}$/)
    expect(JSON.stringify([edge.access.families, edge.log])).not.toContain(String(refreshToken))
  })

  test('rotates refresh tokens within the session', async () => {
    const edge = fixture()
    const first = await bodyOf(await edge.post('/v1/auth/token', CREDENTIALS))
    const session = edge.access.families[0]?.sessionId
    const refresh = (token: unknown) =>
      edge.post('/v1/auth/token', { grant_type: 'refresh_token', refresh_token: token })
    const second = await bodyOf(await refresh(first['refresh_token']))
    expect(second['refresh_token']).not.toBe(first['refresh_token'])
    expect(edge.access.families[0]?.sessionId).toBe(session)
    expect((await edge.get('/v1/transactions', String(second['access_token']))).status).toBe(200)
    expect((await refresh(first['refresh_token'])).status).toBe(401)
    expect((await refresh(second['refresh_token'])).status).toBe(200)
  })

  test('refresh tokens of revoked clients give nothing', async () => {
    const edge = fixture()
    const first = await bodyOf(await edge.post('/v1/auth/token', CREDENTIALS))
    await edge.access.revokeClient('ann', 1)
    const body = { grant_type: 'refresh_token', refresh_token: first['refresh_token'] }
    expect((await edge.post('/v1/auth/token', body)).status).toBe(401)
  })

  test('unknown client, wrong secret, revoked client and every refused refresh are one answer', async () => {
    const edge = fixture()
    edge.access.clients.set('old', { ...clientOf('old', 'admin'), revokedAtMs: 1 })
    edge.access.clients.set('changed', clientOf('changed', 'admin'))
    edge.access.unreadable.add('changed')
    const bodies: unknown[] = [
      { client_id: 'nobody', client_secret: SECRET },
      { client_id: 'ann', client_secret: 'wrong' },
      { client_id: 'old', client_secret: SECRET },
      { client_id: 'changed', client_secret: SECRET },
      { grant_type: 'refresh_token', refresh_token: 'rt_x' },
      { grant_type: 'refresh_token', refresh_token: `rt_${'x'.repeat(43)}.YW5u` },
    ]
    const answers = new Set<string>()
    for (const body of bodies) {
      const response = await edge.post('/v1/auth/token', body, undefined, { 'x-request-id': 'same' })
      expect(response.status).toBe(401)
      expect(response.headers.get('www-authenticate')).toContain('Bearer')
      answers.add(await response.text())
    }
    for (const kind of ['unknown', 'expired', 'revoked', 'reused'] as const) {
      edge.access.refreshOutcome = { kind }
      const again = await edge.post('/v1/auth/token', bodies[5], undefined, { 'x-request-id': 'same' })
      answers.add(await again.text())
    }
    expect(answers.size).toBe(1)
    expect(edge.secretChecks.known).toEqual([false, true, true, false])
  })

  test.for([
    [{}, ['client_id', 'client_secret']],
    [{ client_id: 'ann' }, ['client_secret']],
    [{ client_id: '', client_secret: 1 }, ['client_id', 'client_secret']],
    [{ grant_type: 'refresh_token' }, ['refresh_token']],
    [{ grant_type: 'password', ...CREDENTIALS }, ['grant_type']],
    [{ refresh_token: 'rt_x' }, ['client_id', 'client_secret']],
  ] as const)('%j is 400', async ([body, fields]) => {
    const refused = await refusalOf(await fixture().post('/v1/auth/token', body))
    expect(refused).toEqual({ status: 400, codes: ['ERR_INVALID_FIELD'], fields })
  })

  test('D17: after 20 failures refusals are late, the status stays 401, and the right secret is never late', async () => {
    const edge = fixture()
    const wrong = { client_id: 'ann', client_secret: 'wrong' }
    for (let count = 0; count < 20; count += 1) expect((await edge.post('/v1/auth/token', wrong)).status).toBe(401)
    let late: Response | undefined
    const pending = edge.post('/v1/auth/token', wrong).then((response) => (late = response))
    await edge.clock.timersSet(1)
    expect(late).toBeUndefined()
    expect((await edge.post('/v1/auth/token', CREDENTIALS)).status).toBe(200)
    expect((await edge.post('/v1/auth/token', { ...wrong, client_id: 'bob' })).status).toBe(401)
    await edge.clock.advance(2000)
    await pending
    expect(late?.status).toBe(401)
  })

  test('D17: no refusal is later than 2 s, and after a minute the count begins anew', async () => {
    const edge = fixture()
    const wrong = { client_id: 'ann', client_secret: 'wrong' }
    const all = Array.from({ length: 60 }, () => edge.post('/v1/auth/token', wrong))
    await edge.clock.timersSet(40)
    await edge.clock.advance(2000)
    expect(new Set((await Promise.all(all)).map((response) => response.status))).toEqual(new Set([401]))
    await edge.clock.advance(60_000)
    expect((await edge.post('/v1/auth/token', wrong)).status).toBe(401)
    expect(edge.clock.pending()).toBe(0)
  })

  test('a hundred members are read; a body made to be costly is refused before it is parsed', async () => {
    const extra = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, index) => [`extra${index}`, index]))
    expect((await fixture().post('/v1/auth/token', { ...CREDENTIALS, ...extra(98) })).status).toBe(200)
    for (const costly of [extra(99), { deep: Array.from({ length: 200 }, () => []) }]) {
      const refused = await refusalOf(await fixture().post('/v1/auth/token', { ...CREDENTIALS, ...costly }))
      expect(refused).toEqual({ status: 400, codes: ['ERR_INVALID_FIELD'], fields: ['body'] })
    }
  })

  test('a name that no client can have is not looked for, and its secret is checked all the same', async () => {
    const edge = fixture()
    const long = 'x'.repeat(1000)
    edge.access.clients.set(long, clientOf(long, 'admin'))
    expect((await edge.post('/v1/auth/token', { client_id: long, client_secret: SECRET })).status).toBe(401)
    expect(edge.secretChecks.known).toEqual([false])
  })

  test('a refresh token that names what no client is called is refused without a look', async () => {
    const edge = fixture()
    const asked = vi.spyOn(edge.access, 'findClient')
    for (const name of ['\0', 'an\0', '\0'.repeat(64)]) {
      const refreshToken = `rt_${'x'.repeat(43)}.${Buffer.from(name).toString('base64url')}`
      const body = { grant_type: 'refresh_token', refresh_token: refreshToken }
      expect(await refusalOf(await edge.post('/v1/auth/token', body))).toMatchObject({ status: 401 })
    }
    expect(asked).not.toHaveBeenCalled()
  })

  test.for(['current', 'sign'] as const)(
    'I3: while the token key fails at %s nothing is spent or begun',
    async (at) => {
      const edge = fixture()
      const first = await bodyOf(await edge.post('/v1/auth/token', CREDENTIALS))
      const refresh = { grant_type: 'refresh_token', refresh_token: first['refresh_token'] }
      edge.keys.failsAt = at
      for (const body of [refresh, CREDENTIALS]) {
        expect(await refusalOf(await edge.post('/v1/auth/token', body))).toMatchObject({ status: 503 })
      }
      expect(edge.access.families).toHaveLength(1)
      edge.keys.failsAt = null
      expect((await edge.post('/v1/auth/token', refresh)).status).toBe(200)
    },
  )

  test('I3: nor while the client cannot be looked up', async () => {
    const edge = fixture()
    const first = await bodyOf(await edge.post('/v1/auth/token', CREDENTIALS))
    const refresh = { grant_type: 'refresh_token', refresh_token: first['refresh_token'] }
    vi.spyOn(edge.access, 'findClient').mockRejectedValueOnce(new AccessStoreUnavailable('away'))
    expect(await refusalOf(await edge.post('/v1/auth/token', refresh))).toMatchObject({ status: 503 })
    await edge.clock.advance(10_001)
    expect((await edge.post('/v1/auth/token', refresh)).status).toBe(200)
  })
})

test('the form that OAuth libraries send is 415, with what to send instead', async () => {
  const edge = fixture()
  const form = new URLSearchParams({ grant_type: 'client_credentials', client_id: 'ann', client_secret: SECRET })
  const response = await edge.post('/v1/auth/token', form.toString(), undefined, {
    'content-type': 'application/x-www-form-urlencoded',
  })
  const { status, error_codes: codes, detail } = await bodyOf(response)
  expect([status, codes]).toEqual([415, ['ERR_UNSUPPORTED_CONTENT_TYPE']])
  expect(detail).toMatch(/^Content-Type must be application\/json\. Send the credentials as JSON .*client_secret/)
})

describe('access tokens', () => {
  /** A token of the fixture's own key with other header and claims. */
  async function forged(edge: ReturnType<typeof fixture>, header: object, claims: object, without: string[] = []) {
    const good = await bodyOf(await edge.post('/v1/auth/token', CREDENTIALS))
    const [head = '', payload = ''] = String(good['access_token']).split('.')
    const read = (part: string) => JSON.parse(Buffer.from(part, 'base64url').toString()) as object
    const kept = Object.entries({ ...read(payload), ...claims }).filter(([name]) => !without.includes(name))
    const write = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
    const signed = `${write({ ...read(head), ...header })}.${write(Object.fromEntries(kept))}`
    const { rawSignature } = await import('../../../api/auth/ecdsa-signature.ts')
    const { kid = edge.keys.current('token') } = header as { readonly kid?: string }
    const isKnown = edge.keys.published().some(({ keyId }) => keyId === kid)
    const der = Buffer.from(edge.keys.signWith(isKnown ? kid : edge.keys.current('token'), signed), 'base64')
    return `${signed}.${rawSignature(der).toString('base64url')}`
  }

  test('a token of the same making is good, so that what follows is refused for its difference alone', async () => {
    const edge = fixture()
    expect((await edge.get('/v1/transactions', await forged(edge, {}, {}))).status).toBe(200)
  })

  test.for(['iss', 'aud', 'sub', 'role', 'sid', 'jti', 'iat', 'exp'])('a token without %s is 401', async (claim) => {
    const edge = fixture()
    expect((await edge.get('/v1/transactions', await forged(edge, {}, {}, [claim]))).status).toBe(401)
  })

  test.for([
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
  ] as [object, object][])('a token with %j %j is 401', async ([header, claims]) => {
    const edge = fixture()
    const response = await edge.get('/v1/transactions', await forged(edge, header, claims))
    expect(response.headers.get('www-authenticate')).toContain('invalid_token')
    expect(await refusalOf(response)).toMatchObject({ status: 401, codes: ['ERR_UNAUTHORIZED'] })
  })

  test('what is signed by anything but the key of tokens is 401: HMAC with the public key, another key, no key', async () => {
    const edge = fixture()
    const { header, claims, signature } = partsOf(await edge.tokenFor('viewer'))
    const { keys } = (await bodyOf(await edge.get('/.well-known/jwks.json'))) as { keys: Members[] }
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
      'the key for receipts': await forged(edge, { kid: edge.keys.current('receipt') }, {}),
    })) {
      expect([what, (await edge.get('/v1/transactions', token)).status]).toEqual([what, 401])
    }
  })

  test('garbage in place of a token is 401', async () => {
    const edge = fixture()
    const token = await edge.tokenFor('viewer')
    const headers = [
      '',
      'Bearer',
      'Bearer ',
      `Basic ${token}`,
      token,
      `Bearer ${token}x`,
      `Bearer ${token} x`,
      `Bearer ${'a'.repeat(9000)}`,
    ]
    for (const authorization of headers) {
      const { status } = await edge.get('/v1/transactions', undefined, { authorization })
      expect([authorization, status]).toEqual([authorization, 401])
    }
    expect((await edge.get(`/v1/transactions?access_token=${token}`)).status).toBe(401)
    expect((await edge.get('/v1/transactions', undefined, { authorization: `bearer  ${token}` })).status).toBe(200)
  })

  async function detailOf(edge: ReturnType<typeof fixture>, headers: Record<string, string>): Promise<unknown> {
    const response = await edge.get('/v1/transactions', undefined, headers)
    expect(response.status).toBe(401)
    return (await bodyOf(response))['detail']
  }

  test('D14: a 401 distinguishes a missing, malformed, expired and revoked token', async () => {
    const edge = fixture()
    const token = await edge.tokenFor('viewer')
    const authorization = `Bearer ${token}`
    expect((await edge.get('/v1/transactions', token)).status).toBe(200)
    expect(await detailOf(edge, {})).toMatch(/^The access token is missing/)
    for (const other of [token, `Basic ${token}`, 'Bearer x.y.z', `Bearer ${token.slice(0, -2)}AA`]) {
      expect(await detailOf(edge, { authorization: other })).toMatch(/^The access token is malformed/)
    }
    edge.access.revokeSession(edge.access.families.length - 1)
    await edge.clock.advance(5000)
    expect(await detailOf(edge, { authorization })).toMatch(/^The access token was revoked/)
    await edge.clock.advance(HOUR_MS)
    expect(await detailOf(edge, { authorization })).toMatch(/^The access token has expired/)
  })

  test('D14: a token first used after its end has expired, one under a revoked key was revoked', async () => {
    const edge = fixture()
    const times = { exp: Math.floor(edge.clock.now() / 1000) }
    const authorization = `Bearer ${await forged(edge, {}, times)}`
    expect(await detailOf(edge, { authorization })).toMatch(/^The access token has expired/)
    const good = `Bearer ${await forged(edge, {}, {})}`
    const [key] = edge.keys.keys
    if (key !== undefined) edge.keys.keys[0] = { ...key, revokedAtMs: edge.clock.now() }
    expect(await detailOf(edge, { authorization: good })).toMatch(/^The access token was revoked/)
  })

  test('V1: a token that names a revoked key, and is not signed by it, is malformed', async () => {
    const edge = fixture()
    const [key] = edge.keys.keys
    const [head, claims] = (await edge.tokenFor('viewer')).split('.')
    if (key !== undefined) edge.keys.keys[0] = { ...key, revokedAtMs: edge.clock.now() }
    const authorization = `Bearer ${head}.${claims}.${'A'.repeat(86)}`
    expect(await detailOf(edge, { authorization })).toMatch(/^The access token is malformed/)
  })

  test('a token has one encoding: padding and non-zero unused bits are malformed', async () => {
    const edge = fixture()
    const token = await edge.tokenFor('viewer')
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
    const last = alphabet.indexOf(token.slice(-1))
    const sameBytes = `${token.slice(0, -1)}${alphabet[last ^ 1]}`
    for (const other of [`${token}==`, `${token}=`, sameBytes]) {
      expect(await detailOf(edge, { authorization: `Bearer ${other}` })).toMatch(/malformed/)
    }
  })

  test('V2: a remembered token dies with its time', async () => {
    const edge = fixture()
    const token = await edge.tokenFor('viewer')
    expect((await edge.get('/v1/transactions', token)).status).toBe(200)
    await edge.clock.advance(HOUR_MS - 2000)
    expect((await edge.get('/v1/transactions', token)).status).toBe(200)
    await edge.clock.advance(2000)
    expect((await edge.get('/v1/transactions', token)).status).toBe(401)
  })

  test('V4: a token lives no longer than tokens live now, whatever they lived when it was made', async () => {
    const edge = fixture()
    const issuedAtS = Math.floor(edge.clock.now() / 1000)
    const longer = await forged(edge, {}, { exp: issuedAtS + 24 * 3600 })
    const shorter = await forged(edge, {}, { exp: issuedAtS + 60 })
    await edge.clock.advance(59_000)
    const statuses = () =>
      Promise.all([longer, shorter].map(async (token) => (await edge.get('/v1/transactions', token)).status))
    expect(await statuses()).toEqual([200, 200])
    await edge.clock.advance(1000)
    expect(await statuses()).toEqual([200, 401])
    await edge.clock.advance(HOUR_MS - 60_000)
    expect(await statuses()).toEqual([401, 401])
  })

  test('V4: a revoked session stays revoked for tokens with longer lifetimes, after the store has deleted it', async () => {
    const edge = fixture()
    const token = await forged(edge, {}, { exp: Math.floor(edge.clock.now() / 1000) + 24 * 3600 })
    edge.access.revokeSession(edge.access.families.length - 1)
    expect((await edge.get('/v1/transactions', token)).status).toBe(401)
    await edge.clock.advance(HOUR_MS + 61_000)
    edge.access.families.length = 0
    expect((await edge.get('/v1/transactions', token)).status).toBe(401)
  })

  test('V3: keys rotate without downtime, and a key retired for long signs nothing', async () => {
    const edge = fixture()
    const before = await edge.tokenFor('viewer')
    const retired = edge.keys.keys[0]
    const next = edge.keys.rotate()
    if (retired !== undefined) edge.keys.keys[0] = { ...retired, retiredAtMs: edge.clock.now() }
    expect((await edge.get('/v1/transactions', before)).status).toBe(200)
    expect(decodeProtectedHeader(await edge.tokenFor('viewer')).kid).toBe(next)
    const times = () => {
      const laterS = Math.floor(edge.clock.now() / 1000) + 100_000
      return { iat: laterS, exp: laterS }
    }
    const late = await forged(edge, {}, times())
    await edge.clock.advance(HOUR_MS)
    expect((await edge.get('/v1/transactions', late)).status).toBe(200)
    const signing = edge.keys.keys.find((key) => key.keyId === next)
    if (signing !== undefined)
      edge.keys.keys.splice(edge.keys.keys.indexOf(signing), 1, {
        ...signing,
        retiredAtMs: edge.clock.now() - 2 * HOUR_MS,
      })
    const forgedNow = await forged(edge, {}, times())
    expect((await edge.get('/v1/transactions', forgedNow)).status).toBe(401)
  })

  test('V3: a revoked key ends its tokens at once, also those that were let in before, and no others', async () => {
    const edge = fixture()
    const before = await edge.tokenFor('viewer')
    expect((await edge.get('/v1/transactions', before)).status).toBe(200)
    const [revoked] = edge.keys.keys
    edge.keys.rotate()
    const after = await edge.tokenFor('viewer')
    if (revoked !== undefined) edge.keys.keys[0] = { ...revoked, revokedAtMs: edge.clock.now() }
    expect((await edge.get('/v1/transactions', before)).status).toBe(401)
    expect((await edge.get('/v1/transactions', after)).status).toBe(200)
  })
})
