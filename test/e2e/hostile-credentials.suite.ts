/** Goal: nobody gets past who they are and what they signed, however they write it down. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Holder, type HttpReply, LedgerClient, send, textOf } from '../support/client.ts'
import {
  hmacToken,
  joined,
  openTokenForge,
  partsOf,
  signedToken,
  type TokenForge,
} from '../support/client-forged-token.ts'
import { type Members, newAccountKeys, signatureBytes, signed } from '../support/client-keys.ts'
import { WELL_FORMED } from './hostile-bodies.ts'
import { ProblemCheck } from './problem-check.ts'
import type { GetRunning } from './running.ts'

const PATH = '/v1/transactions'
const UNAUTHORIZED = { status: 401, slug: 'unauthorized', code: 'ERR_UNAUTHORIZED' }
const MISMATCH = { status: 403, slug: 'forbidden', code: 'ERR_SIGNATURE_MISMATCH' }
const NOT_FOUND = { status: 404, slug: 'not-found', code: 'ERR_NOT_FOUND' }

export function tokenSuite(running: GetRunning): void {
  let forge: TokenForge
  beforeAll(async () => {
    forge = await openTokenForge(running().cluster)
  })
  afterAll(() => forge.close())

  const ask = (authorization: string | undefined): Promise<HttpReply> =>
    send(running().client.origin, {
      method: 'POST',
      path: PATH,
      headers: { 'content-type': 'application/json', ...(authorization === undefined ? {} : { authorization }) },
      body: JSON.stringify(WELL_FORMED),
    })

  test('D17: no token, half a token and no bearer are 401', async () => {
    const problems = new ProblemCheck()
    const { token } = running().client
    const { header, claims } = partsOf(token)
    for (const authorization of [
      undefined,
      '',
      'Bearer',
      'Bearer ',
      `Basic ${Buffer.from('transactor-client:secret').toString('base64')}`,
      token,
      `Bearer ${token} ${token}`,
      `Bearer ${token.split('.').slice(0, 2).join('.')}`,
      `Bearer ${joined(header, claims, '')}`,
      'Bearer a.b.c',
      'Bearer ....',
      `Bearer ${'x'.repeat(8000)}`,
    ]) {
      problems.check(`authorization ${authorization ?? 'missing'}`, await ask(authorization), UNAUTHORIZED)
    }
    expect(problems.faults).toEqual([])
  })

  test('D17: a forged token is 401: alg none, HMAC with the public key, another key, another role, embedded keys', async () => {
    const problems = new ProblemCheck()
    const { header, claims, signature } = partsOf(running().client.token)
    const jwks = await send(running().client.origin, { method: 'GET', path: '/.well-known/jwks.json' })
    const published = JSON.parse(jwks.body) as { readonly keys: readonly Members[] }
    const key = published.keys.find(({ kid }) => kid === header['kid']) ?? {}
    const own = newAccountKeys()
    const admin = { ...claims, role: 'admin' }
    const forged: Readonly<Record<string, string>> = {
      'another role under the old signature': joined(header, admin, signature),
      'alg none': joined({ ...header, alg: 'none' }, admin, ''),
      'alg NONE with a signature': joined({ ...header, alg: 'NONE' }, admin, signature),
      'HS256 with the public key as JSON': hmacToken(admin, { ...header, alg: 'HS256' }, JSON.stringify(key)),
      'HS256 with a coordinate': hmacToken(admin, { ...header, alg: 'HS256' }, textOf(key, 'x')),
      'ES384 in name': signedToken({ ...header, alg: 'ES384' }, admin, own.privateKey),
      'another key': signedToken(header, admin, own.privateKey),
      'another key, by its own kid': signedToken({ ...header, kid: 'mine' }, admin, own.privateKey),
      'another key, brought along': signedToken({ ...header, jwk: own.jwk }, admin, own.privateKey),
      'a path as kid': signedToken({ ...header, kid: '../../dev/null' }, admin, own.privateKey),
      'a signature of zeros': joined(header, admin, Buffer.alloc(64).toString('base64url')),
    }
    for (const [what, token] of Object.entries(forged)) {
      problems.check(what, await ask(`Bearer ${token}`), UNAUTHORIZED)
    }
    expect(problems.faults).toEqual([])
  })

  test('D17: a token that the ledger itself signed is 401 when a claim is missing, expired or of another place', async () => {
    const problems = new ProblemCheck()
    const { header, claims } = partsOf(running().client.token)
    const nowS = Math.floor(Date.now() / 1000)
    // Otherwise what follows would prove nothing: signed like this, the claims as they are do pass.
    problems.check('nothing changed', await ask(`Bearer ${await forge.sign(header, claims)}`), MISMATCH)
    const without = (claim: string): Members =>
      Object.fromEntries(Object.entries(claims).filter(([name]) => name !== claim))
    const wrong: readonly (readonly [string, Members, Members])[] = [
      ['expired', header, { ...claims, iat: nowS - 7200, exp: nowS - 3600 }],
      ['expired just now', header, { ...claims, exp: nowS - 1 }],
      ['another audience', header, { ...claims, aud: 'another-ledger' }],
      ['another issuer', header, { ...claims, iss: 'https://elsewhere.example' }],
      ['another type of token', { ...header, typ: 'JWT' }, claims],
      ['no type of token', { alg: 'ES256' }, claims],
      ['a wrong kid', { ...header, kid: 'no such key' }, claims],
      ['a critical extension', { ...header, crit: ['b64'], b64: false }, claims],
      ['a client that does not exist', header, { ...claims, sub: 'nobody' }],
      ['a role that does not exist', header, { ...claims, role: 'root' }],
      ['exp as a text', header, { ...claims, exp: String(nowS + 3600) }],
      ...['iss', 'aud', 'sub', 'role', 'sid', 'jti', 'iat', 'exp'].map(
        (claim) => [`no ${claim}`, header, without(claim)] as const,
      ),
    ]
    for (const [what, forgedHeader, forgedClaims] of wrong) {
      problems.check(what, await ask(`Bearer ${await forge.sign(forgedHeader, forgedClaims)}`), UNAUTHORIZED)
    }
    const { kid: _kid, ...bare } = header
    problems.check(
      'the key for receipts',
      await ask(`Bearer ${await forge.signByReceiptKey(bare, claims)}`),
      UNAUTHORIZED,
    )
    expect(problems.faults).toEqual([])
  })

  test('D17: what is no login is 400 or 401, and tells a wrong secret from an unknown client to nobody', async () => {
    const problems = new ProblemCheck()
    const { client, cluster } = running()
    const login = (body: string): Promise<HttpReply> =>
      send(client.origin, {
        method: 'POST',
        path: '/v1/auth/token',
        headers: { 'content-type': 'application/json', 'x-request-id': 'the-same' },
        body,
      })
    const { clientId } = cluster.clients.transactor
    const wrongSecret = await login(JSON.stringify({ client_id: clientId, client_secret: 'wrong' }))
    problems.check('a wrong secret', wrongSecret, UNAUTHORIZED)
    const unknown = await login(JSON.stringify({ client_id: 'nobody', client_secret: 'wrong' }))
    problems.check('an unknown client', unknown, UNAUTHORIZED)
    expect(unknown.body).toBe(wrongSecret.body)
    for (const body of ['{}', '{"client_id":{"$gt":""},"client_secret":"x"}', '{"grant_type":"password"}', '[]', '7']) {
      expect([body, (await login(body)).status]).toEqual([body, 400])
    }
    const madeUp = await login(JSON.stringify({ grant_type: 'refresh_token', refresh_token: 'made up' }))
    problems.check('a refresh token made up', madeUp, UNAUTHORIZED)
    expect(problems.faults).toEqual([])
  })

  test('403: a viewer may not submit, and is told before its body is read', async () => {
    const problems = new ProblemCheck()
    const { client, cluster } = running()
    const viewer = await LedgerClient.login(client.origin, cluster.clients.viewer)
    const forbidden = { status: 403, slug: 'forbidden', code: 'ERR_FORBIDDEN' }
    problems.check('a viewer', await viewer.post(PATH, '{', { 'content-type': 'text/plain' }), forbidden)
    viewer.close()
    expect(problems.faults).toEqual([])
  })
}

/** The order of the group of P-256 (FIPS 186-4, D.1.2.3). */
const GROUP_ORDER = Buffer.from('ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551', 'hex')

export function signatureSuite(running: GetRunning, getHolder: () => Holder): void {
  test('D6: a signature that does not verify is 403 ERR_SIGNATURE_MISMATCH, garbage included', async () => {
    const problems = new ProblemCheck()
    const { client } = running()
    const { accountId, keys } = getHolder()
    const fields = { account_id: accountId, amount: '1', type: 'credit', idempotency_key: 'never' }
    const good = signatureBytes(fields, keys.privateKey)
    const [r, s] = [good.subarray(0, 32), good.subarray(32)]
    const zero = Buffer.alloc(32)
    const garbage: readonly (readonly [string, string])[] = [
      ['a word', 'garbage'],
      ['a space', ' '],
      ['no base64', '!!!!'],
      ['not ASCII', '署名'],
      ['half of it', good.subarray(0, 32).toString('base64url')],
      ['more of it', Buffer.concat([good, Buffer.of(0)]).toString('base64url')],
      ['hexadecimal', good.toString('hex')],
      ['all zeros', Buffer.alloc(64).toString('base64url')],
      ['r of zero', Buffer.concat([zero, s]).toString('base64url')],
      ['s of zero', Buffer.concat([r, zero]).toString('base64url')],
      ['r beyond the group', Buffer.concat([GROUP_ORDER, s]).toString('base64url')],
      ['r and s exchanged', Buffer.concat([s, r]).toString('base64url')],
      ['DER of nonsense', Buffer.from('3006020101020101', 'hex').toString('base64url')],
      ['DER without end', Buffer.from('30ff0201', 'hex').toString('base64url')],
      ['100,000 characters', 'A'.repeat(100_000)],
      ['another key', signatureBytes(fields, newAccountKeys().privateKey).toString('base64url')],
      ['another payload', signatureBytes({ ...fields, amount: '2' }, keys.privateKey).toString('base64url')],
    ]
    for (const [what, signature] of garbage) {
      problems.check(what, await client.post(PATH, { ...fields, signature }), MISMATCH)
    }
    expect(problems.faults).toEqual([])
  })

  test('D7: an account that does not exist is 404 before its signature is looked at', async () => {
    const problems = new ProblemCheck()
    const { client } = running()
    const fields = { account_id: 'nobody@hostile', amount: '1', type: 'credit', idempotency_key: 'never' }
    problems.check('garbage', await client.post(PATH, { ...fields, signature: 'garbage' }), NOT_FOUND)
    const own = signed(fields, newAccountKeys().privateKey)
    problems.check('a key of its own', await client.post(PATH, own), NOT_FOUND)
    expect(problems.faults).toEqual([])
  })

  test('D2: what is no P-256 public key registers no account', async () => {
    const problems = new ProblemCheck()
    const { client } = running()
    const { jwk } = newAccountKeys()
    const invalid = { status: 400, slug: 'validation-error', code: 'ERR_INVALID_PUBLIC_KEY' }
    for (const [what, key] of [
      ['a text', 'key'],
      ['a number', 7],
      ['a private part', { ...jwk, d: jwk['x'] ?? '' }],
      ['another curve', { ...jwk, crv: 'P-384' }],
      ['a point off the curve', { ...jwk, y: jwk['x'] ?? '' }],
      ['infinity', 'AA'],
      ['a secret key', { kty: 'oct', k: 'AAAA' }],
      ['half a PEM', '-----BEGIN PUBLIC KEY-----\n'],
    ] as const) {
      problems.check(what, await client.post('/v1/accounts', { account_id: 'x@hostile', public_key: key }), invalid)
    }
    expect(problems.faults).toEqual([])
  })
}
