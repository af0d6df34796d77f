/** Goal: whatever a client sends, it gets a 'no' that says why, never a 500, and the service goes on for everybody else. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { type Holder, type HttpReply, LedgerClient, send } from '../support/client.ts'
import {
  hmacToken,
  joined,
  openTokenForge,
  partsOf,
  signedToken,
  type TokenForge,
} from '../support/client-forged-token.ts'
import { type Members, newAccountKeys, signatureBytes, signed } from '../support/client-keys.ts'
import { chunked, sendRaw } from '../support/client-raw.ts'
import { expectProblem } from './expect-problem.ts'
import { UNREADABLE, WELL_FORMED, WRONG } from './hostile-bodies.ts'
import type { GetRunning } from './running.ts'

const PATH = '/v1/transactions'
const LIMIT_BYTES = 1_048_576
const INVALID_REQUEST = { status: 400, slug: 'invalid-request' }
const UNSUPPORTED = { status: 415, slug: 'unsupported-media-type', code: 'ERR_UNSUPPORTED_CONTENT_TYPE' }
const TOO_LARGE = { status: 413, slug: 'payload-too-large', code: 'ERR_PAYLOAD_TOO_LARGE' }
const UNAUTHORIZED = { status: 401, slug: 'unauthorized', code: 'ERR_UNAUTHORIZED' }
const MISMATCH = { status: 403, slug: 'forbidden', code: 'ERR_SIGNATURE_MISMATCH' }
const NOT_FOUND = { status: 404, slug: 'not-found', code: 'ERR_NOT_FOUND' }

export function hostileSuite(running: GetRunning): void {
  describe('hostile input', () => {
    let holder: Holder
    let serial = 0

    beforeAll(async () => {
      holder = await running().client.register('target@hostile')
    })

    afterEach(async () => {
      serial += 1
      const fields = { amount: '1', type: 'credit', idempotency_key: `still here ${serial}` }
      for (const client of [running().client, running().elsewhere]) {
        expect((await client.submit(holder, fields)).status).toBe(202)
      }
    })

    afterAll(async () => {
      // Nothing of all that was applied but the good ones.
      const balance = await running().client.read('/v1/accounts/target@hostile/balances/BASE')
      expect(balance['balance']).toBe(`${serial}`)
    })

    test('D6, D14: what is no JSON, or is ambiguous JSON, is 400 invalid-request', async () => {
      for (const [what, body] of UNREADABLE) {
        const reply = await running().client.post(PATH, body)
        expectProblem(what, reply, { ...INVALID_REQUEST, code: 'ERR_INVALID_FIELD' })
      }
    })

    test('D14: JSON that is no submission is 400 validation-error with the code of what is wrong', async () => {
      for (const [what, body, code] of WRONG) {
        const reply = await running().client.post(PATH, body)
        expectProblem(what, reply, { status: 400, slug: 'validation-error', code })
      }
    })

    sizes(running)
    mediaTypes(running)
    tokens(running)
    signatures(running, () => holder)
    addresses(running)
    wire(running)
  })
}

/** A submission padded to so many bytes with a member that is wrong for another reason than size. */
function padded(sizeBytes: number): Buffer {
  const frame = Buffer.byteLength(JSON.stringify({ ...WELL_FORMED, metadata: { a: '' } }))
  return Buffer.from(JSON.stringify({ ...WELL_FORMED, metadata: { a: 'x'.repeat(sizeBytes - frame) } }))
}

function sizes(running: GetRunning): void {
  const post = (framing: string, body: Buffer): Promise<HttpReply> => {
    const { client } = running()
    const head = [
      `POST ${PATH} HTTP/1.1`,
      'Host: ledger',
      `Authorization: Bearer ${client.token}`,
      'Content-Type: application/json',
      'Connection: close',
      framing,
      '',
      '',
    ]
    return sendRaw(client.origin, Buffer.concat([Buffer.from(head.join('\r\n')), body]))
  }
  const announced = (body: Buffer): Promise<HttpReply> => post(`Content-Length: ${body.length}`, body)
  const inChunks = (body: Buffer): Promise<HttpReply> =>
    post('Transfer-Encoding: chunked', chunked(body.subarray(0, 1000), body.subarray(1000)))

  test('D14: 1,048,576 bytes pass the check of size, one more is 413, announced or in chunks', async () => {
    const judged = { status: 400, slug: 'validation-error', code: 'ERR_INVALID_FIELD' }
    for (const [how, deliver] of [
      ['announced', announced],
      ['in chunks', inChunks],
    ] as const) {
      expectProblem(`exactly the limit, ${how}`, await deliver(padded(LIMIT_BYTES)), judged)
      expectProblem(`one byte more, ${how}`, await deliver(padded(LIMIT_BYTES + 1)), TOO_LARGE)
      expectProblem(`four times as much, ${how}`, await deliver(padded(4 * LIMIT_BYTES)), TOO_LARGE)
    }
  })
}

function mediaTypes(running: GetRunning): void {
  test('D14: a POST that is not declared as plain application/json is 415', async () => {
    const { client } = running()
    const body = JSON.stringify(WELL_FORMED)
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'application/jsonp', 'text/json', '', ',']) {
      expectProblem(`type ${type}`, await client.post(PATH, body, { 'content-type': type }), UNSUPPORTED)
    }
    const headers = client.authorization()
    expectProblem('no type', await send(client.origin, { method: 'POST', path: PATH, headers, body }), UNSUPPORTED)
    for (const encoding of ['gzip', 'br', 'deflate', 'identity, gzip']) {
      expectProblem(encoding, await client.post(PATH, body, { 'content-encoding': encoding }), UNSUPPORTED)
    }
    for (const type of ['application/json; charset=utf-8', 'APPLICATION/JSON', 'application/json;']) {
      expectProblem(`type ${type}`, await client.post(PATH, body, { 'content-type': type }), MISMATCH)
    }
  })
}

function tokens(running: GetRunning): void {
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
      expectProblem(`authorization ${authorization ?? 'missing'}`, await ask(authorization), UNAUTHORIZED)
    }
  })

  test('D17: a forged token is 401: alg none, HMAC with the public key, another key, another role, embedded keys', async () => {
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
      'HS256 with a coordinate': hmacToken(admin, { ...header, alg: 'HS256' }, String(key['x'])),
      'ES384 in name': signedToken({ ...header, alg: 'ES384' }, admin, own.privateKey),
      'another key': signedToken(header, admin, own.privateKey),
      'another key, by its own kid': signedToken({ ...header, kid: 'mine' }, admin, own.privateKey),
      'another key, brought along': signedToken({ ...header, jwk: own.jwk }, admin, own.privateKey),
      'a path as kid': signedToken({ ...header, kid: '../../dev/null' }, admin, own.privateKey),
      'a signature of zeros': joined(header, admin, Buffer.alloc(64).toString('base64url')),
    }
    for (const [what, token] of Object.entries(forged)) {
      expectProblem(what, await ask(`Bearer ${token}`), UNAUTHORIZED)
    }
  })

  test('D17: a token that the ledger itself signed is 401 when a claim is missing, expired or of another place', async () => {
    const { header, claims } = partsOf(running().client.token)
    const nowS = Math.floor(Date.now() / 1000)
    // Otherwise what follows would prove nothing: signed like this, the claims as they are do pass.
    expectProblem('nothing changed', await ask(`Bearer ${await forge.sign(header, claims)}`), MISMATCH)
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
      expectProblem(what, await ask(`Bearer ${await forge.sign(forgedHeader, forgedClaims)}`), UNAUTHORIZED)
    }
    const { kid: _kid, ...bare } = header
    expectProblem(
      'the key for receipts',
      await ask(`Bearer ${await forge.signByReceiptKey(bare, claims)}`),
      UNAUTHORIZED,
    )
  })

  test('D17: what is no login is 400 or 401, and tells a wrong secret from an unknown client to nobody', async () => {
    const { client, cluster } = running()
    const login = (body: string): Promise<HttpReply> =>
      send(client.origin, {
        method: 'POST',
        path: '/v1/auth/token',
        headers: { 'content-type': 'application/json' },
        body,
      })
    const { clientId } = cluster.clients.transactor
    const wrongSecret = await login(JSON.stringify({ client_id: clientId, client_secret: 'wrong' }))
    expectProblem('a wrong secret', wrongSecret, UNAUTHORIZED)
    const unknown = await login(JSON.stringify({ client_id: 'nobody', client_secret: 'wrong' }))
    expectProblem('an unknown client', unknown, UNAUTHORIZED)
    expect(unknown.body).toBe(wrongSecret.body)
    for (const body of ['{}', '{"client_id":{"$gt":""},"client_secret":"x"}', '{"grant_type":"password"}', '[]', '7']) {
      expect([body, (await login(body)).status]).toEqual([body, 400])
    }
    const madeUp = await login(JSON.stringify({ grant_type: 'refresh_token', refresh_token: 'made up' }))
    expectProblem('a refresh token made up', madeUp, UNAUTHORIZED)
  })

  test('403: a viewer may not submit, and is told before its body is read', async () => {
    const { client, cluster } = running()
    const viewer = await LedgerClient.login(client.origin, cluster.clients.viewer)
    const forbidden = { status: 403, slug: 'forbidden', code: 'ERR_FORBIDDEN' }
    expectProblem('a viewer', await viewer.post(PATH, '{', { 'content-type': 'text/plain' }), forbidden)
    viewer.close()
  })
}

/** The order of the group of P-256 (FIPS 186-4, D.1.2.3). */
const GROUP_ORDER = Buffer.from('ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551', 'hex')

function signatures(running: GetRunning, getHolder: () => Holder): void {
  test('D6: a signature that does not verify is 403 ERR_SIGNATURE_MISMATCH, garbage included', async () => {
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
      expectProblem(what, await client.post(PATH, { ...fields, signature }), MISMATCH)
    }
  })

  test('D7: an account that does not exist is 404 before its signature is looked at', async () => {
    const { client } = running()
    const fields = { account_id: 'nobody@hostile', amount: '1', type: 'credit', idempotency_key: 'never' }
    expectProblem('garbage', await client.post(PATH, { ...fields, signature: 'garbage' }), NOT_FOUND)
    const own = signed(fields, newAccountKeys().privateKey)
    expectProblem('a key of its own', await client.post(PATH, own), NOT_FOUND)
  })

  test('D2: what is no P-256 public key registers no account', async () => {
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
      expectProblem(what, await client.post('/v1/accounts', { account_id: 'x@hostile', public_key: key }), invalid)
    }
  })
}

function addresses(running: GetRunning): void {
  test('D1: an ill-formed account in a path is 400, whatever it is escaped as; what names nothing is 404', async () => {
    const { client } = running()
    const illFormed = { ...INVALID_REQUEST, code: 'ERR_INVALID_ACCOUNT_ID' }
    for (const id of [
      '%00',
      'a%00',
      'a%2Fb',
      '%2F',
      '%2e%2e%2f',
      '%20',
      'a%0d%0ab',
      '%ff',
      '%',
      '%zz',
      '%c0%af',
      '%F0%9F',
    ]) {
      for (const path of [`/v1/accounts/${id}`, `/v1/accounts/${id}/state`, `/v1/accounts/${id}/audit-chain`]) {
        expectProblem(path, await client.get(path), illFormed)
      }
    }
    expectProblem('129', await client.get(`/v1/accounts/${'a'.repeat(129)}/balances`), illFormed)
    const group = { ...INVALID_REQUEST, code: 'ERR_INVALID_GROUP_ID' }
    for (const id of ['%00', 'x', '%2F']) {
      expectProblem(`group ${id}`, await client.get(`/v1/transactions/group/${id}`), group)
    }
    for (const path of [
      '/v1/transactions/%00',
      '/v1/transactions/txn_%00',
      '/v1/transactions/..%2F..%2Fetc%2Fpasswd',
      '/v1/transactions/txn_00000000000000000000000000',
      '/v1/transactions/txn_00000000000000000000000000/receipt',
      '/v1/accounts/target@hostile/balances/%00',
      '/v1/accounts/nobody@hostile',
      '/v1/nothing/here',
      '/v1/%00',
      '/v1/%ff',
      '/v1//transactions',
    ]) {
      expectProblem(path, await client.get(path), NOT_FOUND)
    }
    const open = await send(client.origin, { method: 'GET', path: '/v1/nothing/here' })
    expectProblem('unknown without a token', open, UNAUTHORIZED)
  })

  test('D16: a query that is wrong is 400 with the code of the thing it is', async () => {
    const { client } = running()
    for (const [query, code] of [
      ['page_size=0', 'ERR_INVALID_QUERY'],
      ['page_size=-1', 'ERR_INVALID_QUERY'],
      ['page_size=1.5', 'ERR_INVALID_QUERY'],
      ['page_size=ten', 'ERR_INVALID_QUERY'],
      ['page_token=made%20up', 'ERR_INVALID_QUERY'],
      [`page_token=${'A'.repeat(513)}`, 'ERR_INVALID_QUERY'],
      ['account_id=a%00', 'ERR_INVALID_QUERY'],
      ['account_id=a%2Fb', 'ERR_INVALID_ACCOUNT_ID'],
      ['amount_min=-1', 'ERR_INVALID_AMOUNT'],
      ['amount_max=1e5', 'ERR_INVALID_AMOUNT'],
      ['type=steal', 'ERR_INVALID_TYPE'],
      ['status=lost', 'ERR_INVALID_QUERY'],
      ['group_id=7', 'ERR_INVALID_GROUP_ID'],
      ['date_from=yesterday', 'ERR_INVALID_TIMESTAMP'],
      ['date_to=2026-02-30T00:00:00Z', 'ERR_INVALID_TIMESTAMP'],
      ['type=credit&type=debit', 'ERR_INVALID_QUERY'],
      ['token_class=%00', 'ERR_INVALID_QUERY'],
      ["token_id=x'%20OR%201=1--", 'ERR_INVALID_TOKEN_ID'],
    ] as const) {
      expectProblem(query, await client.get(`${PATH}?${query}`), { ...INVALID_REQUEST, code })
    }
  })

  test('405 names what is allowed', async () => {
    const { client } = running()
    const notAllowed = { status: 405, slug: 'method-not-allowed', code: 'ERR_METHOD_NOT_ALLOWED' }
    for (const method of ['DELETE', 'PUT', 'PATCH']) {
      const reply = await send(client.origin, { method, path: PATH, headers: client.authorization() })
      expectProblem(method, reply, notAllowed)
      expect(reply.headers.allow).toBe('GET, HEAD, POST')
    }
  })
}

function wire(running: GetRunning): void {
  const raw = (...lines: readonly string[]): Promise<HttpReply> =>
    sendRaw(running().client.origin, [...lines, '', ''].join('\r\n'))

  test('D14: what is no HTTP, or two things at once, is 400 and ends its connection only', async () => {
    const authorization = `Authorization: Bearer ${running().client.token}`
    const illegible = { ...INVALID_REQUEST, code: 'ERR_INVALID_FIELD' }
    const post = [`POST ${PATH} HTTP/1.1`, 'Host: ledger', authorization, 'Content-Type: application/json']
    for (const [what, reply] of [
      ['no HTTP', raw('GARBAGE')],
      ['TLS', sendRaw(running().client.origin, Buffer.from('16030100ff0100', 'hex'))],
      ['no such version', raw('GET / HTTP/9.9', 'Host: ledger')],
      ['a length below zero', raw(...post, 'Content-Length: -1')],
      ['two lengths', raw(...post, 'Content-Length: 1', 'Content-Length: 2')],
      ['a length and chunks', raw(...post, 'Content-Length: 5', 'Transfer-Encoding: chunked', '', '0')],
      ['a chunk of no size', raw(...post, 'Transfer-Encoding: chunked', '', 'zz', '{}')],
      ['a NUL in a header', raw(`GET ${PATH} HTTP/1.1`, 'Host: ledger', 'X-Note: a\0b')],
      ['huge headers', raw(`GET ${PATH} HTTP/1.1`, 'Host: ledger', authorization, `X-Note: ${'x'.repeat(100_000)}`)],
      ['2,000 headers of 50 bytes', raw(`GET ${PATH} HTTP/1.1`, 'Host: ledger', ...many(2_000))],
    ] as const) {
      expectProblem(what, await reply, illegible)
    }
  })

  test('D14: the client’s request ID comes back if it is one, and is replaced if it is not', async () => {
    const { client } = running()
    const idFor = async (id: string): Promise<unknown> => {
      const headers = { ...client.authorization(), 'x-request-id': id }
      const reply = await send(client.origin, { method: 'GET', path: PATH, headers })
      return reply.headers['x-request-id']
    }
    expect(await idFor('mine-1.2_3')).toBe('mine-1.2_3')
    for (const id of ['', 'a b', 'a'.repeat(65), '<script>', 'a"b', 'a,b']) {
      expect(await idFor(id)).not.toBe(id)
      expect(await idFor(id)).toMatch(/^[A-Za-z0-9._-]{1,64}$/)
    }
  })
}

function many(count: number): readonly string[] {
  return Array.from({ length: count }, (_, number) => `X-Note-${number}: ${'x'.repeat(40)}`)
}
