/** Goal: W1, W2: the operators' listener shows its pages, and does and tells nothing else. */
import { createServer } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { startWatchServer, type WatchAnswer, type WatchServer } from '../../../infra/metrics/watch-server.ts'

let server: WatchServer | undefined

afterEach(async () => {
  await server?.stop()
  server = undefined
})

async function start(): Promise<string> {
  server = await startWatchServer(
    '127.0.0.1',
    0,
    new Map<string, () => WatchAnswer | Promise<WatchAnswer>>([
      ['/page', () => Promise.resolve({ status: 200, contentType: 'text/plain', body: 'größe 1\n' })],
      ['/amiss', () => ({ status: 503, contentType: 'application/json', body: '{"checks":{"nats":false}}' })],
      ['/broken', () => Promise.reject(new Error('the password is hunter2'))],
    ]),
  )
  return `http://127.0.0.1:${server.port}`
}

test('a page is served as it is at that moment, with its status, and may not be stored', async () => {
  const origin = await start()
  const page = await fetch(`${origin}/page?seconds=1`)
  expect([page.status, page.headers.get('content-type'), await page.text()]).toEqual([200, 'text/plain', 'größe 1\n'])
  expect(page.headers.get('cache-control')).toBe('no-store')
  const amiss = await fetch(`${origin}/amiss`)
  expect([amiss.status, await amiss.json()]).toEqual([503, { checks: { nats: false } }])
})

test('HEAD says the same without the body', async () => {
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

test('W2: what fails is 500 without a word of why, and the next is answered', async () => {
  const origin = await start()
  const failed = await fetch(`${origin}/broken`)
  expect([failed.status, await failed.text()]).toEqual([500, 'failed\n'])
  expect((await fetch(`${origin}/page`)).status).toBe(200)
})

test('a port that is taken is refused with the name of the variable that says another', async () => {
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
