/** Goal: E4, an edge with an untrusted clock issues and accepts no token, and still serves requests without one. */
import { expect, test } from 'vitest'
import { createEdgeFixture, bodyOf, refusalOf, SECRET } from './edge-fixture.ts'

test('E4: no token is issued or accepted while the clock is untrusted, and the same token is valid afterwards', async () => {
  let trusted = true
  const edge = createEdgeFixture({ clockTrusted: () => trusted })
  const token = await edge.tokenFor('transactor')
  const { refresh_token: refreshToken } = await bodyOf(
    await edge.post('/v1/auth/token', { client_id: 'client-transactor', client_secret: SECRET }),
  )
  const families = edge.access.families.length
  trusted = false
  const unavailable = { status: 503, codes: ['ERR_DOWNSTREAM_FAILURE'] }
  for (const body of [
    { client_id: 'client-transactor', client_secret: SECRET },
    { grant_type: 'refresh_token', refresh_token: refreshToken },
  ]) {
    expect(await refusalOf(await edge.post('/v1/auth/token', body))).toMatchObject(unavailable)
  }
  expect(edge.access.families).toHaveLength(families)
  expect(await refusalOf(await edge.get('/v1/transactions', token))).toMatchObject(unavailable)
  expect(await refusalOf(await edge.get('/v1/nowhere', token))).toMatchObject(unavailable)
  const submission = await edge.post('/v1/transactions', {}, token)
  expect(submission.headers.get('retry-after')).not.toBeNull()
  expect(await bodyOf(submission)).toMatchObject({ status: 503, outcome: 'not_applied' })
  expect(edge.gateway.asked).toEqual([])
  expect((await edge.get('/.well-known/jwks.json')).status).toBe(200)
  trusted = true
  expect((await edge.get('/v1/transactions', token)).status).toBe(200)
  const refreshed = await edge.post('/v1/auth/token', { grant_type: 'refresh_token', refresh_token: refreshToken })
  expect(refreshed.status).toBe(200)
})
