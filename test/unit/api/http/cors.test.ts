/** Only pages of the configured origins can use the API from a browser. */
import { describe, expect, test } from 'vitest'
import type { AllowedOrigins } from '../../../../api/http/cors.ts'
import { readConfiguration } from '../../../../infra/config/configuration.ts'
import { createEdgeFixture } from '../fakes/edge-fixture.ts'

const PAGE = 'https://app.example.com'
const OTHER = 'https://evil.example.com'

function edgeFor(corsOrigins: AllowedOrigins) {
  return createEdgeFixture({ settings: { ...createEdgeFixture().settings, corsOrigins } })
}

function preflight(edge: ReturnType<typeof edgeFor>, path: string, origin: string): Promise<Response> | Response {
  const headers = { origin, 'access-control-request-method': 'POST', 'access-control-request-headers': 'authorization' }
  return edge.app.request(path, { method: 'OPTIONS', headers })
}

describe('LEDGER_CORS_ORIGINS', () => {
  test.for([
    [{}, 'any'],
    [{ LEDGER_CORS_ORIGINS: '*' }, 'any'],
    [{ LEDGER_CORS_ORIGINS: `${PAGE}, http://localhost:3000` }, [PAGE, 'http://localhost:3000']],
  ] as const)('%j allows %j', ([env, origins]) => {
    expect(readConfiguration(env, '/')).toMatchObject({ ok: true, value: { configuration: { corsOrigins: origins } } })
  })

  test.for(['app.example.com', `${PAGE}/`, `${PAGE}/app`, 'ftp://app.example.com', `${PAGE},*`, 'https://A.example'])(
    '%s is refused',
    (text) => {
      expect(readConfiguration({ LEDGER_CORS_ORIGINS: text }, '/')).toMatchObject({
        ok: false,
        error: [expect.stringMatching(/^LEDGER_CORS_ORIGINS is .*origins such as/)],
      })
    },
  )
})

describe('CORS', () => {
  test('a preflight needs no token and lists the methods of the resource', async () => {
    const reply = await preflight(edgeFor([PAGE]), '/v1/transactions', PAGE)
    expect([reply.status, await reply.text()]).toEqual([204, ''])
    expect(Object.fromEntries(reply.headers)).toMatchObject({
      allow: 'GET, HEAD, POST, OPTIONS',
      'access-control-allow-origin': PAGE,
      'access-control-allow-methods': 'GET, HEAD, POST, OPTIONS',
      'access-control-allow-headers': expect.stringMatching(/Authorization.*Idempotency-Key.*Prefer/),
      vary: 'origin',
    })
    expect(reply.headers.has('access-control-allow-credentials')).toBe(false)
  })

  test('another origin gets no header that lets a browser show the response', async () => {
    const edge = edgeFor([PAGE])
    for (const reply of [
      await preflight(edge, '/v1/transactions', OTHER),
      await edge.get('/healthz', undefined, { origin: OTHER }),
      await edge.get('/healthz', undefined, { origin: `${PAGE}.evil.example` }),
      await preflight(edgeFor([]), '/v1/transactions', PAGE),
    ]) {
      expect([...reply.headers.keys()].filter((name) => name.startsWith('access-control-'))).toEqual([])
    }
  })

  test('every response exposes its headers to the page, refusals included', async () => {
    const edge = edgeFor('any')
    for (const path of ['/healthz', '/docs', '/nowhere', '/v1/transactions', '/v1/nowhere']) {
      const reply = await edge.get(path, undefined, { origin: PAGE })
      expect([path, reply.headers.get('access-control-allow-origin')]).toEqual([path, '*'])
      expect(reply.headers.get('access-control-expose-headers')).toContain('Idempotency-Replayed')
    }
  })

  test('the log is for the pages of every origin, and caches keep one response for all', async () => {
    const edge = edgeFor([PAGE])
    for (const path of ['/log/checkpoint', '/log/key', '/log/tile/0/000', '/log/tile/0/001']) {
      const reply = await edge.get(path, undefined, { origin: OTHER })
      const names = ['access-control-allow-origin', 'vary']
      expect([path, ...names.map((name) => reply.headers.get(name))]).toEqual([path, '*', null])
    }
    const allowed = (await preflight(edge, '/log/checkpoint', OTHER)).headers.get('access-control-allow-methods')
    expect(allowed).toBe('GET, HEAD, OPTIONS')
  })

  test('caches distinguish responses by origin, also for a request without one', async () => {
    const edge = edgeFor([PAGE])
    expect((await edge.get('/healthz')).headers.get('vary')).toBe('origin')
    expect((await edge.get('/docs')).headers.get('vary')).toBe('accept-encoding, origin')
  })

  test('the response is the same with and without an origin where every origin is allowed', async () => {
    const edge = edgeFor('any')
    for (const path of ['/healthz', '/docs']) {
      const [without, within] = [await edge.get(path), await edge.get(path, undefined, { origin: PAGE })]
      const names = ['vary', 'access-control-allow-origin', 'access-control-expose-headers']
      const headersOf = ({ headers }: Response) => names.map((name) => headers.get(name))
      expect(headersOf(without)).toEqual(headersOf(within))
      expect(without.headers.get('access-control-allow-origin')).toBe('*')
    }
  })
})

test('OPTIONS lists the methods of a resource without a token; an unknown path is 404', async () => {
  const { app } = createEdgeFixture()
  for (const [path, status, allow] of [
    ['/v1/accounts/alice/status', 204, 'POST, OPTIONS'],
    ['/healthz', 204, 'GET, HEAD, OPTIONS'],
    ['/nowhere', 404, null],
    ['/v1/nowhere', 401, null],
  ] as const) {
    const reply = await app.request(path, { method: 'OPTIONS' })
    expect([path, reply.status, reply.headers.get('allow')]).toEqual([path, status, allow])
  }
})
