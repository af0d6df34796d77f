/** R1: a request that cannot reach the edge gets problem details, and not an empty 400. */
import { expect, test } from 'vitest'
import { ProblemCheck } from '../../support/problem-check.ts'
import type { HttpReply } from '../../support/client/client.ts'
import { sendRaw } from '../../support/client/client-raw.ts'
import { portOf } from '../../support/processes/served-app.ts'
import { createEdgeFixture } from '../api/fakes/edge-fixture.ts'

const ILLEGIBLE = { status: 400, slug: 'invalid-request', code: 'ERR_INVALID_FIELD' }
const FAILED = { status: 503, slug: 'downstream-failure', code: 'ERR_DOWNSTREAM_FAILURE' }

async function serving(app: Parameters<typeof portOf>[0] = createEdgeFixture().app) {
  const port = await portOf(app)
  return (...lines: readonly string[]): Promise<HttpReply> =>
    sendRaw(`http://127.0.0.1:${port}`, [...lines, 'X-Request-Id: mine', 'Connection: close', '', ''].join('\r\n'))
}

function instanceOf({ body }: HttpReply): unknown {
  return (JSON.parse(body) as { readonly instance: unknown }).instance
}

test('D14: an invalid URL is a problem with the request’s own ID, which may not be cached', async () => {
  const ask = await serving()
  const problems = new ProblemCheck()
  for (const [lines, instance] of [
    [['GET /v1/accounts/a\\b?secret=1 HTTP/1.1', 'Host: ledger'], '/v1/accounts/a%5Cb'],
    [['GET /healthz HTTP/1.1', 'Host: x:99999'], '/healthz'],
    [['GET /healthz HTTP/1.1', 'Host: a b'], '/healthz'],
    [['GET /healthz HTTP/1.1', 'Host: user@ledger'], '/healthz'],
    [['GET /healthz HTTP/1.1'], '/healthz'],
    [['POST /v1/transactions HTTP/1.1', 'Host: a b', 'Content-Length: 0'], '/v1/transactions'],
    [['GET http://[ HTTP/1.1', 'Host: ledger'], '/'],
    [['GET ftp://ledger/healthz HTTP/1.1', 'Host: ledger'], '/healthz'],
  ] as const) {
    const what = lines.join(', ')
    const reply = await ask(...lines)
    problems.check(what, reply, ILLEGIBLE)
    expect([what, reply.headers]).toMatchObject([
      what,
      { 'x-request-id': 'mine', 'x-content-type-options': 'nosniff', 'cache-control': 'no-store' },
    ])
    expect(instanceOf(reply)).toBe(instance)
  }
  expect(problems.faults).toEqual([])
})

test('D14: malformed or ambiguous HTTP gets a problem with its request ID in header and body', async () => {
  const ask = await serving()
  const problems = new ProblemCheck()
  const post = ['POST /v1/transactions HTTP/1.1', 'Host: ledger', 'Content-Type: application/json']
  const many = Array.from({ length: 2_000 }, (_, number) => `X-Note-${number}: ${'x'.repeat(40)}`)
  for (const [what, reply] of [
    ['not HTTP', ask('this is not HTTP')],
    ['no such version', ask('GET / HTTP/9.9', 'Host: ledger')],
    ['a length below zero', ask(...post, 'Content-Length: -1')],
    ['two lengths', ask(...post, 'Content-Length: 1', 'Content-Length: 2')],
    ['a length and chunks', ask(...post, 'Content-Length: 5', 'Transfer-Encoding: chunked', '', '0')],
    ['a chunk of no size', ask(...post, 'Transfer-Encoding: chunked', '', 'zz', '{}')],
    ['a NUL in a header', ask('GET / HTTP/1.1', 'Host: ledger', 'X-Note: a\0b')],
    ['large headers', ask('GET / HTTP/1.1', `X-Large: ${'x'.repeat(20_000)}`)],
    ['many headers', ask('GET / HTTP/1.1', 'Host: ledger', ...many)],
  ] as const) {
    problems.check(what, await reply, ILLEGIBLE)
  }
  expect(problems.faults).toEqual([])
})

test('OPTIONS * lists the methods of the service, without a token', async () => {
  const ask = await serving()
  const reply = await ask('OPTIONS * HTTP/1.1', 'Host: ledger')
  expect([reply.status, reply.headers.allow]).toEqual([204, 'GET, HEAD, POST, PUT, OPTIONS'])
})

test('an HTTP/1.0 request needs no Host header', async () => {
  const ask = await serving()
  expect((await ask('GET /healthz HTTP/1.0')).status).toBe(200)
})

test('an unknown expectation does not keep a request from the edge', async () => {
  const ask = await serving()
  const reply = await ask('GET /healthz HTTP/1.1', 'Host: ledger', 'Expect: the-unexpected')
  expect(reply).toMatchObject({ status: 200, headers: { 'x-request-id': 'mine' } })
})

test.for([
  [
    'throws',
    () => {
      throw new Error('secret words')
    },
  ],
  ['rejects', () => Promise.reject(new Error('secret words'))],
] as const)('R2: an app that %s is a 503 with an unknown outcome', async ([, fetch]) => {
  const ask = await serving({ fetch })
  const reply = await ask('POST /v1/transactions HTTP/1.1', 'Host: ledger', 'Content-Length: 0')
  const problems = new ProblemCheck()
  problems.check('a failing app', reply, FAILED)
  expect(problems.faults).toEqual([])
  expect(reply.headers['retry-after']).toBe('1')
  expect(reply.body).toContain('"outcome":"unknown"')
  expect(reply.body).not.toContain('secret')
})
