import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { createHttpClient, LedgerNotReady, LedgerUnreachable } from '../../../infra/cli/common/http-client.ts'

let server: Server | undefined
afterEach(() => {
  server?.closeAllConnections()
  server?.close()
  server = undefined
})

/** Gives tokens that live so long, and says what it was asked with; `isGood`: whether a token is taken. */
async function ledger(lifeS: number, isGood: (token: string) => boolean) {
  const asked: string[] = []
  let tokens = 0
  server = createServer((request, response) => {
    request.resume()
    const { url: path = '', headers } = request
    if (path === '/v1/auth/token') {
      tokens += 1
      asked.push('token')
      response.end(JSON.stringify({ access_token: `token-${tokens}`, expires_in: lifeS }))
      return
    }
    const token = headers.authorization?.slice('Bearer '.length) ?? ''
    asked.push(token)
    const status = isGood(token) ? 200 : 401
    response.writeHead(status, { 'retry-after': '7' }).end(JSON.stringify({ status }))
  })
  await new Promise<void>((resolve) => server?.listen(0, '127.0.0.1', resolve))
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return { client: createHttpClient(base, 'operations', 'a secret'), asked }
}

test('a token is asked for once, and used for as long as it is good (W2)', async () => {
  const { client, asked } = await ledger(3_600, () => true)
  for (let count = 0; count < 3; count += 1) expect((await client.ask('GET', '/v1/shards')).status).toBe(200)
  expect(asked).toEqual(['token', 'token-1', 'token-1', 'token-1'])
})

test('a token whose life is over is not used again (W2)', async () => {
  const { client, asked } = await ledger(0, () => true)
  for (let count = 0; count < 2; count += 1) await client.ask('GET', '/v1/shards')
  expect(asked).toEqual(['token', 'token-1', 'token', 'token-2'])
})

test('a token that is no longer taken is replaced once for a request (W2)', async () => {
  const replaced = await ledger(3_600, (token) => token !== 'token-1')
  expect(await replaced.client.ask('GET', '/v1/shards')).toEqual({ status: 200, body: { status: 200 }, retryAfterS: 7 })
  expect(replaced.asked).toEqual(['token', 'token-1', 'token', 'token-2'])
  server?.close()
  const refused = await ledger(3_600, () => false)
  expect((await refused.client.ask('GET', '/v1/shards')).status).toBe(401)
  expect(refused.asked).toEqual(['token', 'token-1', 'token', 'token-2'])
})

test('a ledger that is not there is told from one that refuses', async () => {
  const { client } = await ledger(3_600, () => true)
  server?.closeAllConnections()
  await new Promise((resolve) => server?.close(resolve))
  await expect(client.ask('GET', '/v1/shards')).rejects.toThrow(LedgerUnreachable)
})

test('a ledger that is there and gives no token yet is told from both', async () => {
  server = createServer((_, response) => void response.writeHead(503).end('{"title":"Service Unavailable"}'))
  await new Promise<void>((resolve) => server?.listen(0, '127.0.0.1', resolve))
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const asking = createHttpClient(base, 'operations', 'a secret').ask('GET', '/v1/shards')
  await expect(asking).rejects.toThrow(LedgerNotReady)
  await expect(asking).rejects.toThrow('gives no access token yet: 503 Service Unavailable')
})
