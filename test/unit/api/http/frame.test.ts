import { describe, expect, test } from 'vitest'
import { createUnmigratedEdge } from '../../../../api/unmigrated-edge.ts'
import { PROBLEM_TYPES } from '../../../../api/http/problem.ts'
import { bodyOf, createEdgeFixture, LEDGER_ID, refusalOf, signedIn } from '../fakes/edge-fixture.ts'

describe('every endpoint', () => {
  test('R1: returns a request ID, the client’s if it is well formed', async () => {
    const edge = createEdgeFixture()
    for (const path of ['/healthz', '/nowhere', '/v1/transactions', '/v1/nowhere']) {
      const own = await edge.get(path, undefined, { 'x-request-id': 'a.B_c-1' })
      expect(own.headers.get('x-request-id')).toBe('a.B_c-1')
      expect(own.headers.get('x-content-type-options')).toBe('nosniff')
      expect((await edge.get(path)).headers.get('x-request-id')).toMatch(/^[0-9a-f]{32}$/)
      const bad = await edge.get(path, undefined, { 'x-request-id': 'a b' })
      expect(bad.headers.get('x-request-id')).toMatch(/^[0-9a-f]{32}$/)
    }
  })

  test.for([
    ['/v1/accounts/a%20b/state', '/v1/accounts/a%20b/state'],
    ['/v1/accounts/%e4%B8%ad?page=1', '/v1/accounts/%e4%B8%ad'],
    ['/v1/accounts/a%2Fb', '/v1/accounts/a%2Fb'],
    ['/v1/accounts/%zz', '/v1/accounts/%25zz'],
    ['/nowhere//x', '/nowhere//x'],
  ] as const)('D14: names the path in problems: the instance for %s is %s', async ([path, instance]) => {
    const edge = createEdgeFixture()
    const response = await edge.get(path, await edge.tokenFor('viewer'))
    expect(await bodyOf(response)).toMatchObject({ instance })
  })

  test('R1: forbids caches to store responses under /v1', async () => {
    const { edge, token } = await signedIn('viewer')
    for (const path of ['/v1/transactions', '/v1/nowhere', '/v1/accounts/x']) {
      expect((await edge.get(path, token)).headers.get('cache-control')).toBe('no-store')
    }
  })

  test('E1: checks the token before the route and the method under /v1', async () => {
    const { edge, token } = await signedIn('viewer')
    for (const path of ['/v1', '/v1/nowhere', '/v1/auth/token', '/v1/accounts/']) {
      const refused = await edge.get(path)
      expect([path, refused.status]).toEqual([path, 401])
      expect(refused.headers.get('www-authenticate')).toBe('Bearer realm="ledger"')
    }
    expect(await refusalOf(await edge.get('/v1/nowhere', token))).toMatchObject({
      status: 404,
      codes: ['ERR_NOT_FOUND'],
    })
    expect((await edge.get('/nowhere')).status).toBe(404)
  })

  test.for([
    ['DELETE', '/v1/transactions', 'GET, HEAD, POST, OPTIONS'],
    ['PUT', '/v1/accounts/alice', 'GET, HEAD, OPTIONS'],
    ['GET', '/v1/accounts/alice/status', 'POST, OPTIONS'],
    ['HEAD', '/v1/auth/token', 'POST, OPTIONS'],
    ['POST', '/healthz', 'GET, HEAD, OPTIONS'],
    ['PROPFIND', '/.well-known/jwks.json', 'GET, HEAD, OPTIONS'],
  ] as const)('answers %s %s with 405 and the allowed methods', async ([method, path, allow]) => {
    const edge = createEdgeFixture()
    const headers = { authorization: `Bearer ${await edge.tokenFor('admin')}` }
    const response = await edge.app.request(path, { method, headers })
    expect(response.status).toBe(405)
    expect(response.headers.get('allow')).toBe(allow)
    expect(await response.text()).toContain(method === 'HEAD' ? '' : '"error_codes":["ERR_METHOD_NOT_ALLOWED"]')
  })

  test('answers HEAD like GET, without a body', async () => {
    const edge = createEdgeFixture()
    const headers = { authorization: `Bearer ${await edge.tokenFor('viewer')}` }
    const response = await edge.app.request('/v1/transactions', { method: 'HEAD', headers })
    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toBe('application/json')
    expect(await response.text()).toBe('')
    expect((await edge.app.request('/v1/transactions', { method: 'HEAD' })).status).toBe(401)
  })

  test('reads the whole body before it refuses, so that a client still writing gets the refusal', async () => {
    const edge = createEdgeFixture()
    let pulled = 0
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        pulled += 1
        if (pulled > 50) controller.close()
        else controller.enqueue(new Uint8Array(65_536))
      },
    })
    const response = await edge.app.request('/v1/transactions', { method: 'POST', body, duplex: 'half' })
    expect([response.status, pulled]).toEqual([401, 51])
  })
})

describe('outside /v1', () => {
  test('/readyz returns the ledger ID, the failed checks and the warnings', async () => {
    const edge = createEdgeFixture()
    const ready = await edge.get('/readyz')
    expect(ready.status).toBe(200)
    expect(await bodyOf(ready)).toEqual({
      status: 'ready',
      ledger_id: LEDGER_ID,
      environment: 'sandbox',
      checks: { postgres: true, nats: true },
      warnings: [],
    })
    const warnings = [{ code: 'liability_balance_limit', detail: 'near' }]
    edge.readiness.warnings = warnings
    const warned = await edge.get('/readyz')
    expect([warned.status, await bodyOf(warned)]).toMatchObject([200, { status: 'ready', warnings }])
    edge.readiness.ready = false
    edge.readiness.checks = { postgres: true, nats: false }
    const amiss = await edge.get('/readyz')
    expect(amiss.status).toBe(503)
    expect(await bodyOf(amiss)).toMatchObject({ status: 'not_ready', checks: { nats: false } })
  })

  test('/.well-known/jwks.json shows every key with its purpose and validity', async () => {
    const edge = createEdgeFixture()
    const [first] = edge.keys.keys
    if (first !== undefined) edge.keys.keys[0] = { ...first, retiredAtMs: first.activeFromMs + 1 }
    const response = await edge.get('/.well-known/jwks.json')
    expect(response.headers.get('cache-control')).toBe('public, max-age=300')
    const body = (await bodyOf(response)) as { ledger_id: string; keys: Record<string, unknown>[] }
    expect(body.ledger_id).toBe(LEDGER_ID)
    expect(body.keys.map((key) => key['purpose'])).toEqual(['token', 'receipt', 'assertion', 'attestation'])
    expect(body.keys[0]).toEqual({
      kty: 'EC',
      crv: 'P-256',
      x: first?.x,
      y: first?.y,
      kid: first?.keyId,
      use: 'sig',
      alg: 'ES256',
      purpose: 'token',
      nbf: 1_759_996_400,
      exp: 1_759_996_401,
    })
    expect(body.keys[1]).not.toHaveProperty('exp')
  })

  // error-pages.test.ts tests the existing pages.
  test.for(['nothing', 'constructor', '__proto__', '%3Cscript%3E'])('/errors/%s is 404', async (slug) => {
    expect((await createEdgeFixture().get(`/errors/${slug}`)).status).toBe(404)
  })
})

describe('before the ledger was created', () => {
  const app = createUnmigratedEdge({
    random: { hex: (size) => 'a'.repeat(2 * size), integer: () => 0 },
    log: { info: () => {}, warn: () => {}, error: () => {} },
    readiness: async () => ({ ready: false, checks: { migrated: false } }),
    settings: {
      errorBase: 'https://ledger.example/errors',
      environment: 'sandbox',
      corsOrigins: 'any',
      pages: ['console', 'docs'],
    },
  })

  test('D15: every request under /v1 is 503 ERR_NO_SHARDS, with or without a token', async () => {
    for (const [method, path] of [
      ['POST', '/v1/auth/token'],
      ['GET', '/v1/transactions'],
      ['POST', '/v1/transactions'],
      ['GET', '/v1/nowhere'],
    ]) {
      const response = await app.request(String(path), { method: String(method) })
      expect(await bodyOf(response)).toMatchObject({
        type: 'https://ledger.example/errors/shard-unavailable',
        status: 503,
        error_codes: ['ERR_NO_SHARDS'],
        outcome: 'not_applied',
      })
    }
  })

  test('D18: the edge is alive, not ready, and serves error pages and documentation', async () => {
    expect((await app.request('/healthz')).status).toBe(200)
    expect(await bodyOf(await app.request('/readyz'))).toMatchObject({ status: 'not_ready', ledger_id: null })
    expect((await app.request('/nowhere')).status).toBe(404)
    const edge = createEdgeFixture()
    const pages = ['/docs', '/docs/plain', '/docs/guides', '/docs/guides/integration', '/errors', '/openapi.json']
    for (const path of [...pages, ...Object.keys(PROBLEM_TYPES).map((slug) => `/errors/${slug}`)]) {
      expect(await (await app.request(path)).text()).toBe(await (await edge.get(path)).text())
    }
  })
})
