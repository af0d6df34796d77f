/** W1, W2: the operators' listener serves its pages and nothing else. */
import { createServer } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { startWatchServer, type WatchReply, type WatchServer } from '../../../infra/metrics/watch-server.ts'

let server: WatchServer | undefined

afterEach(async () => {
  await server?.stop()
  server = undefined
})

async function start(): Promise<string> {
  server = await startWatchServer(
    '127.0.0.1',
    0,
    new Map<string, () => WatchReply | Promise<WatchReply>>([
      ['/page', () => Promise.resolve({ status: 200, contentType: 'text/plain', body: 'größe 1\n' })],
      ['/amiss', () => ({ status: 503, contentType: 'application/json', body: '{"checks":{"nats":false}}' })],
      ['/broken', () => Promise.reject(new Error('the password is hunter2'))],
    ]),
  )
  return `http://127.0.0.1:${server.port}`
}

test('a page is built for each request, has its status, and may not be cached', async () => {
  const origin = await start()
  const page = await fetch(`${origin}/page?seconds=1`)
  expect([page.status, page.headers.get('content-type'), await page.text()]).toEqual([200, 'text/plain', 'größe 1\n'])
  expect(page.headers.get('cache-control')).toBe('no-store')
  const amiss = await fetch(`${origin}/amiss`)
  expect([amiss.status, await amiss.json()]).toEqual([503, { checks: { nats: false } }])
})

test('HEAD gets the same headers without the body', async () => {
  const head = await fetch(`${await start()}/page`, { method: 'HEAD' })
  expect([head.status, head.headers.get('content-length'), await head.text()]).toEqual([200, '10', ''])
})

test('W1: other methods are 405, other paths 404', async () => {
  const origin = await start()
  for (const method of ['POST', 'PUT', 'DELETE']) {
    const refused = await fetch(`${origin}/page`, { method })
    expect([method, refused.status, refused.headers.get('allow')]).toEqual([method, 405, 'GET, HEAD'])
  }
  for (const path of ['/', '/page/', '/v1/transactions', '/../page2']) {
    expect((await fetch(`${origin}${path}`)).status).toBe(404)
  }
})

test('W2: a failing page is a 500 without details, and the next request is served', async () => {
  const origin = await start()
  const failed = await fetch(`${origin}/broken`)
  expect([failed.status, await failed.text()]).toEqual([500, 'failed\n'])
  expect((await fetch(`${origin}/page`)).status).toBe(200)
})

test('a taken port is refused with the name of its variable', async () => {
  const other = createServer()
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve))
  const address = other.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  try {
    await expect(startWatchServer('127.0.0.1', port, new Map())).rejects.toThrow(
      `port ${port} on 127.0.0.1 is taken: set LEDGER_METRICS_PORT to another`,
    )
  } finally {
    await new Promise((resolve) => other.close(resolve))
  }
})
