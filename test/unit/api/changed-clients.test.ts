/** Goal: whoever changed rows of clients or sessions gets nothing for it, and takes nothing from others. */
import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { bodyOf, clientOf, createEdgeFixture, SECRET } from './edge-fixture.ts'

const CREDENTIALS = { client_id: 'ann', client_secret: SECRET }

function fixture() {
  const edge = createEdgeFixture()
  edge.access.clients.set('ann', clientOf('ann', 'transactor'))
  return edge
}

test('refresh tokens and access tokens of a client that cannot be read give nothing, those of others do', async () => {
  const edge = fixture()
  edge.access.clients.set('bob', clientOf('bob', 'viewer'))
  const [ann, bob] = [
    await bodyOf(await edge.post('/v1/auth/token', CREDENTIALS)),
    await bodyOf(await edge.post('/v1/auth/token', { ...CREDENTIALS, client_id: 'bob' })),
  ]
  edge.access.unreadable.add('ann')
  const outcomes = async (pair: Record<string, unknown>) => {
    const body = { grant_type: 'refresh_token', refresh_token: pair['refresh_token'] }
    const { status: refreshed } = await edge.post('/v1/auth/token', body)
    const { status: read } = await edge.get('/v1/transactions', String(pair['access_token']))
    return { refreshed, read }
  }
  expect(await outcomes(ann)).toEqual({ refreshed: 401, read: 401 })
  expect(await outcomes(bob)).toEqual({ refreshed: 200, read: 200 })
})

test('I4: a session that is moved to another client gives nothing, and no token is made of rows', async () => {
  const edge = fixture()
  edge.access.clients.set('boss', clientOf('boss', 'admin'))
  const { refresh_token: own } = await bodyOf(await edge.post('/v1/auth/token', CREDENTIALS))
  const [family] = edge.access.families
  if (family === undefined) throw new Error('there is no session')
  const refresh = (token: string) => edge.post('/v1/auth/token', { grant_type: 'refresh_token', refresh_token: token })
  edge.access.families[0] = { ...family, clientId: 'boss' }
  expect((await refresh(String(own))).status).toBe(401)
  const made = String(own).replace(/[^.]+$/, Buffer.from('boss').toString('base64url'))
  edge.access.families[0] = { ...family, clientId: 'boss' }
  expect((await refresh(made)).status).toBe(401)
  const tokenHash = createHash('sha256').update(made).digest('hex')
  edge.access.families[0] = { ...family, clientId: 'boss', tokenHash }
  expect((await refresh(made)).status).toBe(401)
})
