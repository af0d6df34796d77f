/** Goal: refused logins cost little, reveal nothing to the sender, and show operators their source. */
import { expect, test } from 'vitest'
import { createClientAddress } from '../../../infra/system/client-address.ts'
import { AccessStoreOverloaded, AccessStoreUnavailable } from '../../../runtime/ports/access-store.ts'
import { clientOf, createEdgeFixture, refusalOf, SECRET } from './edge-fixture.ts'

const CREDENTIALS = { client_id: 'ann', client_secret: SECRET }

function fixture() {
  const edge = createEdgeFixture()
  edge.access.clients.set('ann', clientOf('ann', 'transactor'))
  return edge
}

test('secrets are checked, and refusals logged, under the address that a trusted proxy gives', async () => {
  const clientAddress = createClientAddress([{ address: '10.0.0.0', prefixLength: 8, family: 'ipv4' }])
  const edge = createEdgeFixture({ clientAddress })
  for (const [peer, address] of [
    ['192.0.2.7', '192.0.2.7'],
    ['10.0.0.1', '203.0.113.9'],
  ] as const) {
    const request = new Request('http://localhost/v1/auth/token', {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-forwarded-for': '198.51.100.1, 203.0.113.9' },
      body: JSON.stringify(CREDENTIALS),
    })
    await edge.clock.advance(10_000)
    const response = await edge.app.fetch(request, { incoming: { socket: { remoteAddress: peer } } })
    expect(response.status).toBe(401)
    expect(edge.secretChecks.addresses.at(-1)).toBe(address)
    expect(edge.log.at(-1)).toMatchObject({ event: 'logins_refused', fields: { top_address: address } })
  }
})

test('a thousand refused logins give two log lines, with counts by cause and without secrets', async () => {
  const edge = fixture()
  for (let login = 0; login < 1_000; login += 1) {
    await edge.post('/v1/auth/token', { client_id: `guess-${login}`, client_secret: 'a guess' })
  }
  await edge.post('/v1/auth/token', { grant_type: 'refresh_token', refresh_token: 'rt_x' })
  await edge.clock.advance(10_000)
  expect((await edge.post('/v1/auth/token', CREDENTIALS)).status).toBe(200)
  const common = { addresses: 1, top_address: '' }
  expect(edge.log).toEqual([
    { level: 'warn', event: 'logins_refused', fields: { ...common, top_address_count: 1, credentials_count: 1 } },
    {
      level: 'warn',
      event: 'logins_refused',
      fields: { ...common, top_address_count: 1_000, credentials_count: 999, malformed_count: 1 },
    },
  ])
})

test('too many checks of secrets, and an unavailable store, are 503 and not 401', async () => {
  const edge = fixture()
  edge.secretChecks.failure = new Error('busy')
  const busy = await edge.post('/v1/auth/token', CREDENTIALS)
  expect(await refusalOf(busy)).toMatchObject({ status: 503, codes: ['ERR_OVERLOADED'] })
  expect(busy.headers.get('retry-after')).toBe('1')
  edge.access.failure = new AccessStoreOverloaded('too many')
  for (const body of [CREDENTIALS, { grant_type: 'refresh_token', refresh_token: `rt_${'x'.repeat(43)}.YW5u` }]) {
    const refused = await edge.post('/v1/auth/token', body)
    expect(refused.headers.get('retry-after')).toBe('1')
    expect(await refusalOf(refused)).toMatchObject({ status: 503, codes: ['ERR_OVERLOADED'] })
  }
  edge.access.failure = new AccessStoreUnavailable('connect ECONNREFUSED db.internal')
  const away = await edge.post('/v1/auth/token', CREDENTIALS)
  expect(away.headers.get('retry-after')).toBe('1')
  expect(await away.clone().text()).not.toContain('db.internal')
  expect(await refusalOf(away)).toMatchObject({ status: 503, codes: ['ERR_DOWNSTREAM_FAILURE'] })
})
