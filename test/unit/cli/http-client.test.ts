import { expect, test } from 'vitest'
import { createHttpClient, LedgerNotReady, LedgerUnreachable } from '../../../infra/cli/common/http-client.ts'
import { serving } from './cli-fixture.ts'

/** A server whose tokens live `lifeS` seconds. Accepts a token if `isGood`. Records the tokens of its requests. */
async function ledger(lifeS: number, isGood: (token: string) => boolean) {
  const requests: string[] = []
  let tokens = 0
  const { url, stop } = await serving((request, response) => {
    request.resume()
    const { url: path = '', headers } = request
    if (path === '/v1/auth/token') {
      tokens += 1
      requests.push('token')
      response.end(JSON.stringify({ access_token: `token-${tokens}`, expires_in: lifeS }))
      return
    }
    const token = headers.authorization?.slice('Bearer '.length) ?? ''
    requests.push(token)
    const status = isGood(token) ? 200 : 401
    response.writeHead(status, { 'retry-after': '7' }).end(JSON.stringify({ status }))
  })
  return { client: createHttpClient(url, 'operations', 'a secret'), requests, stop }
}

test('W2: the client requests a token once, and uses it while it is valid', async () => {
  const { client, requests } = await ledger(3_600, () => true)
  for (let count = 0; count < 3; count += 1) expect((await client.request('GET', '/v1/shards')).status).toBe(200)
  expect(requests).toEqual(['token', 'token-1', 'token-1', 'token-1'])
})

test('W2: an expired token is not used again', async () => {
  const { client, requests } = await ledger(0, () => true)
  for (let count = 0; count < 2; count += 1) await client.request('GET', '/v1/shards')
  expect(requests).toEqual(['token', 'token-1', 'token', 'token-2'])
})

test('W2: a token that the server refuses is replaced once per request', async () => {
  const replaced = await ledger(3_600, (token) => token !== 'token-1')
  expect(await replaced.client.request('GET', '/v1/shards')).toEqual({
    status: 200,
    body: { status: 200 },
    retryAfterS: 7,
  })
  expect(replaced.requests).toEqual(['token', 'token-1', 'token', 'token-2'])
  const refused = await ledger(3_600, () => false)
  expect((await refused.client.request('GET', '/v1/shards')).status).toBe(401)
  expect(refused.requests).toEqual(['token', 'token-1', 'token', 'token-2'])
})

test('an unreachable ledger throws LedgerUnreachable', async () => {
  const { client, stop } = await ledger(3_600, () => true)
  await stop()
  await expect(client.request('GET', '/v1/shards')).rejects.toThrow(LedgerUnreachable)
})

test('a ledger that issues no token yet throws LedgerNotReady', async () => {
  const { url } = await serving((_, response) => void response.writeHead(503).end('{"title":"Service Unavailable"}'))
  const requesting = createHttpClient(url, 'operations', 'a secret').request('GET', '/v1/shards')
  await expect(requesting).rejects.toThrow(LedgerNotReady)
  await expect(requesting).rejects.toThrow('issues no access token yet: 503 Service Unavailable')
})
