/** The edge serves public content like static files, with compression and entity tags. */
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { createEdgeFixture } from '../fakes/edge-fixture.ts'

const PATHS = [
  '/docs',
  '/docs/plain',
  '/docs/guides/integration',
  '/errors',
  '/openapi.json',
  '/.well-known/jwks.json',
  '/errors/not-found',
] as const

test.for(PATHS)('public %s is compressed as the client accepts, and each encoding has its own tag', async (path) => {
  const edge = createEdgeFixture()
  const plain = await edge.get(path)
  const text = await plain.text()
  expect([plain.headers.get('content-encoding'), plain.headers.get('vary')]).toEqual([null, 'accept-encoding'])
  const isPage = plain.headers.get('content-type')?.startsWith('text/html') === true
  expect(plain.headers.get('cache-control')).toBe(isPage ? 'no-cache' : 'public, max-age=300')
  const tags = new Set([plain.headers.get('etag')])
  for (const [accepted, encoding, open] of [
    ['br', 'br', brotliDecompressSync],
    ['gzip, deflate, br;q=0.1', 'br', brotliDecompressSync],
    ['GZIP', 'gzip', gunzipSync],
    ['br;q=0, gzip;q=1.0', 'gzip', gunzipSync],
  ] as const) {
    const reply = await edge.get(path, undefined, { 'accept-encoding': accepted })
    expect([accepted, reply.headers.get('content-encoding')]).toEqual([accepted, encoding])
    const tag = reply.headers.get('etag')
    tags.add(tag)
    expect(open(Buffer.from(await reply.arrayBuffer())).toString()).toBe(text)
    expect(tag).toMatch(/^"[A-Za-z0-9_-]{22}/)
    for (const [known, status] of [
      [tag, 304],
      [`W/${tag}`, 304],
      [`"another", ${tag}`, 304],
      ['*', 304],
      ['"another"', 200],
      ['', 200],
    ] as const) {
      const headers = { 'accept-encoding': accepted, 'if-none-match': String(known) }
      const again = await edge.get(path, undefined, headers)
      expect([known, again.status, again.headers.get('etag')]).toEqual([known, status, tag])
      expect([known, (await again.text()) === '']).toEqual([known, status === 304])
    }
  }
  expect(tags.size).toBe(3)
  for (const accepted of ['', 'identity', 'br;q=0', 'zstd', `${'x,'.repeat(200)}br`]) {
    const reply = await edge.get(path, undefined, { 'accept-encoding': accepted })
    expect([accepted, reply.headers.get('content-encoding')]).toEqual([accepted, null])
  }
})

test('HEAD returns the length of each encoding, and no body', async () => {
  const { app } = createEdgeFixture()
  for (const path of PATHS) {
    for (const accepted of ['identity', 'br', 'gzip']) {
      const headers = { 'accept-encoding': accepted }
      const size = (await (await app.request(path, { headers })).arrayBuffer()).byteLength
      const head = await app.request(path, { method: 'HEAD', headers })
      expect([head.status, head.headers.get('content-length'), await head.text()]).toEqual([200, String(size), ''])
    }
  }
})

test('a query with more than 64 parameters is 400; the token is checked first', async () => {
  const edge = createEdgeFixture()
  const path = `/v1/transactions?${'a=1&'.repeat(2_000)}`
  expect((await edge.get(path)).status).toBe(401)
  const refused = await edge.get(path, await edge.tokenFor('viewer'))
  expect(refused.status).toBe(400)
  expect(await refused.json()).toMatchObject({
    errors: [{ field: 'query', message: 'has more than 64 parameters' }],
    error_codes: ['ERR_INVALID_QUERY'],
  })
})
