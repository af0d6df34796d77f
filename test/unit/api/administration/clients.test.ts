/** Clients for administrators: who may, what a new client may be given, repeats, revocation. */
import { describe, expect, test } from 'vitest'
import { AccessStoreUnavailable, type ClientRecord } from '../../../../runtime/ports/access-store.ts'
import {
  bodyOf,
  clientOf,
  createEdgeFixture,
  type EdgeFixture,
  LEDGER_ID,
  newAccountKey,
  refusalOf,
  signedIn,
} from '../fakes/edge-fixture.ts'
import { SANDBOX_SETTINGS } from '../fakes/sandbox-settings.ts'

const NOW = '2025-10-09T08:53:20.123Z'
const SHOP = { client_id: 'shop', role: 'transactor' }

/** An administrator with these rights, and its token. */
async function administrator(changes: Partial<ClientRecord> = {}, edge = createEdgeFixture()) {
  edge.access.clients.set('boss', { ...clientOf('boss', 'admin'), ...changes })
  return { edge, token: await edge.tokenFor('admin', 'boss') }
}

function revoke(edge: EdgeFixture, clientId: string, token: string): Promise<Response> {
  const path = `/v1/clients/${encodeURIComponent(clientId)}`
  return Promise.resolve(edge.app.request(path, { method: 'DELETE', headers: { authorization: `Bearer ${token}` } }))
}

describe('creation', () => {
  test('a client gets a secret that is shown once, and may log in', async () => {
    const { edge, token } = await administrator()
    const body = { ...SHOP, boundary: ['EUR', 'USD'], accounts: ['alice', 'shop:*'], rate: '5/20' }
    const response = await edge.post('/v1/clients', body, token)
    const { client_secret: secret, ...shown } = await bodyOf(response)
    expect(response.status).toBe(201)
    expect(shown).toEqual({ ...body, key_id: null, created_at: NOW, revoked_at: null })
    expect(secret).toMatch(/^lsk_[A-Za-z0-9_-]{43}$/)
    const listed = await bodyOf(await edge.get('/v1/clients', token))
    expect(listed['clients']).toContainEqual(shown)
    expect(JSON.stringify(listed)).not.toContain(String(secret))
    const login = await edge.post('/v1/auth/token', { client_id: 'shop', client_secret: secret })
    expect(login.status).toBe(200)
  })

  test('a client with a key gets no secret', async () => {
    const { edge, token } = await administrator()
    const key = newAccountKey()
    const response = await edge.post('/v1/clients', { ...SHOP, public_key: key.pem }, token)
    const rights = { boundary: true, accounts: null, rate: null }
    expect(response.status).toBe(201)
    expect(await bodyOf(response)).toEqual({
      ...SHOP,
      ...rights,
      key_id: key.keyId,
      created_at: NOW,
      revoked_at: null,
    })
    expect(edge.access.clients.get('shop')).toMatchObject({ secretHash: null, publicKey: key.publicKey })
  })

  const DEFAULTS: readonly (readonly ['sandbox' | 'production', ClientRecord['boundary'], ClientRecord['boundary']])[] =
    [
      ['sandbox', true, true],
      ['sandbox', ['EUR'], ['EUR']],
      ['sandbox', false, false],
      ['production', true, false],
    ]
  test.for(DEFAULTS)('in %s the boundary of an administrator with %j defaults to %j', async (row) => {
    const [environment, own, expected] = row
    const settings = { ...SANDBOX_SETTINGS, ledgerId: LEDGER_ID, environment }
    const { edge, token } = await administrator({ boundary: own }, createEdgeFixture({ settings }))
    const created = await bodyOf(await edge.post('/v1/clients', { ...SHOP, boundary: null }, token))
    expect(created['boundary']).toEqual(expected)
  })

  test.for(['.', '..'])('the ID %s, which programs remove from paths, is refused', async (clientId) => {
    const { edge, token } = await administrator()
    const refused = await edge.post('/v1/clients', { ...SHOP, client_id: clientId }, token)
    expect(await refusalOf(refused)).toEqual({ status: 400, codes: ['ERR_INVALID_FIELD'], fields: ['client_id'] })
    expect(edge.access.clients.has(clientId)).toBe(false)
  })

  const RATE = { perSecond: 5, burst: 10 }
  const EXCESS: readonly (readonly [Partial<ClientRecord>, object, readonly string[]])[] = [
    [{ boundary: false }, { boundary: true }, ['boundary']],
    [{ boundary: ['EUR'] }, { boundary: true }, ['boundary']],
    [{ boundary: ['EUR'] }, { boundary: ['EUR', 'USD'] }, ['boundary']],
    [{ boundary: false }, { boundary: ['EUR'] }, ['boundary']],
    [{ rate: RATE }, {}, ['rate']],
    [{ rate: RATE }, { rate: 'none' }, ['rate']],
    [{ rate: RATE }, { rate: '5.001/10' }, ['rate']],
    [{ rate: RATE }, { rate: '5/11' }, ['rate']],
    [{ rate: RATE, boundary: false }, { rate: '6', boundary: true }, ['boundary', 'rate']],
  ]
  test.for(EXCESS)('an administrator with %j does not make a client with %j', async ([own, body, fields]) => {
    const { edge, token } = await administrator(own)
    const refused = await refusalOf(await edge.post('/v1/clients', { ...SHOP, ...body }, token))
    expect(refused).toEqual({ status: 403, codes: ['ERR_FORBIDDEN'], fields })
    expect(edge.access.clients.has('shop')).toBe(false)
  })

  const WITHIN: readonly (readonly [Partial<ClientRecord>, object])[] = [
    [{ boundary: ['EUR', 'USD'] }, { boundary: ['USD'] }],
    [{ boundary: ['EUR'] }, { boundary: false }],
    [{ boundary: true }, { boundary: ['EUR'] }],
    [{ rate: RATE }, { rate: '5/10' }],
    [{ rate: 'none' }, { rate: '1000/1000' }],
    [{ rate: null }, { rate: 'none' }],
  ]
  test.for(WITHIN)('an administrator with %j makes a client with %j', async ([own, body]) => {
    const { edge, token } = await administrator(own)
    const response = await edge.post('/v1/clients', { ...SHOP, ...body }, token)
    expect(response.status).toBe(201)
    expect(await bodyOf(response)).toMatchObject(body)
  })
})

describe('repeats', () => {
  test('the same registration with the same key is the client; any other is refused', async () => {
    const { edge, token } = await administrator()
    const key = newAccountKey()
    const body = { ...SHOP, public_key: key.pem, accounts: ['alice'] }
    const created = await bodyOf(await edge.post('/v1/clients', body, token))
    await edge.clock.advance(5_000)
    const again = await edge.post('/v1/clients', { ...body, public_key: key.publicKey }, token)
    expect([again.status, await bodyOf(again)]).toEqual([200, created])
    for (const other of [
      { accounts: ['bob'] },
      { role: 'admin' },
      { public_key: newAccountKey().pem },
      { public_key: null },
    ]) {
      const refused = await refusalOf(await edge.post('/v1/clients', { ...body, ...other }, token))
      expect(refused).toEqual({ status: 409, codes: ['ERR_CONFLICT'], fields: ['client_id'] })
    }
  })

  test.for(['with a secret', 'revoked', 'damaged'])('the ID of a client %s is taken', async (state) => {
    const { edge, token } = await administrator()
    const body = { ...SHOP, public_key: state === 'with a secret' ? null : newAccountKey().pem }
    await edge.post('/v1/clients', body, token)
    if (state === 'damaged') edge.access.unreadable.add('shop')
    if (state === 'revoked') await edge.access.revokeClient('shop', 1)
    expect(await refusalOf(await edge.post('/v1/clients', body, token))).toMatchObject({ status: 409 })
  })

  test('a request with the same Idempotency-Key gets the same secret', async () => {
    const { edge, token } = await administrator()
    const headers = { 'idempotency-key': 'one' }
    const [first, second] = [
      await edge.post('/v1/clients', SHOP, token, headers),
      await edge.post('/v1/clients', SHOP, token, headers),
    ]
    expect(second.headers.get('idempotency-replayed')).toBe('true')
    expect([second.status, await second.text()]).toEqual([201, await first.text()])
  })
})

describe('revocation', () => {
  test('a revoked client has no sessions, and the request is idempotent', async () => {
    const { edge, token } = await administrator()
    const clientToken = await edge.tokenFor('transactor', 'a/b?c')
    const response = await revoke(edge, 'a/b?c', token)
    const revoked = await bodyOf(response)
    expect([response.status, revoked]).toEqual([200, expect.objectContaining({ client_id: 'a/b?c', revoked_at: NOW })])
    await edge.clock.advance(5_000)
    expect((await edge.get('/v1/shards', clientToken)).status).toBe(401)
    expect(await bodyOf(await revoke(edge, 'a/b?c', token))).toEqual(revoked)
  })

  test.for([
    ['an unknown client', 'nothing', 404],
    ['a name that no client has', 'x y\0', 404],
    ['itself', 'boss', 409],
    ['a damaged client', 'damaged', 409],
  ] as const)('an administrator does not revoke %s', async ([, clientId, status]) => {
    const { edge, token } = await administrator()
    edge.access.clients.set('damaged', clientOf('damaged', 'viewer'))
    edge.access.unreadable.add('damaged')
    expect(await refusalOf(await revoke(edge, clientId, token))).toMatchObject({ status })
    expect((await edge.get('/v1/clients', token)).status).toBe(200)
  })
})

describe('an administrator', () => {
  test('with a scope neither sees nor changes clients', async () => {
    const { edge, token } = await administrator({ accounts: ['alice'] })
    for (const refused of [
      await edge.get('/v1/clients', token),
      await edge.post('/v1/clients', { ...SHOP, accounts: ['alice'] }, token),
      await revoke(edge, 'nothing', token),
    ]) {
      expect(await refusalOf(refused)).toMatchObject({ status: 403, codes: ['ERR_FORBIDDEN'] })
    }
    expect(edge.access.clients.has('shop')).toBe(false)
  })

  test.for([
    ['revoked', 401, 'ERR_UNAUTHORIZED', { revokedAtMs: 1 }],
    ['limited', 403, 'ERR_FORBIDDEN', { accounts: ['alice'] }],
  ] as const)('that is %s at the store changes nothing, although the edge does not know yet', async (row) => {
    const [, status, code, changes] = row
    const { edge, token } = await administrator()
    edge.access.clients.set('other', clientOf('other', 'viewer'))
    await edge.get('/v1/clients', token)
    edge.access.clients.set('boss', { ...clientOf('boss', 'admin'), ...changes })
    for (const refused of [await edge.post('/v1/clients', SHOP, token), await revoke(edge, 'other', token)]) {
      expect(await refusalOf(refused)).toMatchObject({ status, codes: [code] })
    }
    expect(edge.access.clients.has('shop')).toBe(false)
    expect(edge.access.clients.get('other')?.revokedAtMs).toBeNull()
  })

  test('gets 503 while the store is away', async () => {
    const { edge, token } = await administrator()
    await edge.get('/v1/clients', token)
    edge.access.failure = new AccessStoreUnavailable('away')
    const refused = await edge.post('/v1/clients', SHOP, token)
    expect([refused.status, (await bodyOf(refused))['outcome']]).toEqual([503, 'unknown'])
  })
})

test('a list has pages in the order of the IDs', async () => {
  const { edge, token } = await signedIn('admin')
  for (const clientId of ['b', 'C', 'a']) edge.access.clients.set(clientId, clientOf(clientId, 'viewer'))
  const first = await bodyOf(await edge.get('/v1/clients?page_size=2', token))
  const second = await bodyOf(await edge.get(`/v1/clients?page_token=${String(first['next_page_token'])}`, token))
  const idsOf = (page: Record<string, unknown>) => (page['clients'] as { client_id: string }[]).map((c) => c.client_id)
  expect([idsOf(first), idsOf(second)]).toEqual([
    ['C', 'a'],
    ['b', 'client-admin'],
  ])
  expect(second['next_page_token']).toBe('')
})
