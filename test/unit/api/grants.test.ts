/** Goal: what is revoked or changed holds at every edge within 5 s, and an edge whose store is away lets requests neither in for long nor pile up. */
import { describe, expect, test } from 'vitest'
import { AccessStoreUnavailable } from '../../../runtime/ports/access-store.ts'
import { bodyOf, clientOf, createEdgeFixture, refusalOf } from './edge-fixture.ts'

describe('grants', () => {
  test('G1: what is revoked or changed holds within 5 s', async () => {
    const edge = createEdgeFixture()
    const tokens = [await edge.tokenFor('viewer'), await edge.tokenFor('transactor'), await edge.tokenFor('admin')]
    for (const token of tokens) expect((await edge.get('/v1/transactions', token)).status).toBe(200)
    await edge.access.revokeClient('client-viewer', 1)
    edge.access.revokedSessions.add(String(edge.access.families[1]?.sessionId))
    edge.access.clients.set('client-admin', clientOf('client-admin', 'viewer'))
    await edge.clock.advance(5000)
    expect((await edge.get('/v1/transactions', tokens[0])).status).toBe(401)
    expect((await edge.get('/v1/transactions', tokens[1])).status).toBe(401)
    expect((await edge.get('/v1/transactions', tokens[2])).status).toBe(200)
    expect((await edge.get('/v1/accounts', tokens[2])).status).toBe(403)
  })

  test('G1: while requests come, they are renewed behind their back every 2 s', async () => {
    const edge = createEdgeFixture()
    const token = await edge.tokenFor('viewer')
    await edge.get('/v1/transactions', token)
    expect(edge.access.listed).toBe(1)
    await edge.clock.advance(1999)
    await edge.get('/v1/transactions', token)
    expect(edge.access.listed).toBe(1)
    await edge.clock.advance(1)
    edge.access.hanging = true
    expect((await edge.get('/v1/transactions', token)).status).toBe(200)
    expect(edge.access.listed).toBe(2)
  })

  test('a client younger than the copy is let in', async () => {
    const edge = createEdgeFixture()
    await edge.get('/v1/transactions', await edge.tokenFor('viewer'))
    expect((await edge.get('/v1/transactions', await edge.tokenFor('admin'))).status).toBe(200)
    expect(edge.access.listed).toBe(1)
  })

  test('G2: a copy is trusted for 30 s of failing renewals, then nobody is let in until one succeeds', async () => {
    const edge = createEdgeFixture()
    const token = await edge.tokenFor('transactor')
    await edge.get('/v1/transactions', token)
    edge.access.failure = new AccessStoreUnavailable('away')
    await edge.clock.advance(29_000)
    expect((await edge.get('/v1/transactions', token)).status).toBe(200)
    await edge.clock.advance(1000)
    const refused = await edge.get('/v1/transactions', token)
    expect(await refusalOf(refused)).toMatchObject({ status: 503, codes: ['ERR_DOWNSTREAM_FAILURE'] })
    const submission = await edge.post('/v1/transactions', {}, token)
    expect(await bodyOf(submission)).toMatchObject({ status: 503, outcome: 'not_applied' })
    edge.access.failure = null
    await edge.clock.advance(500)
    expect((await edge.get('/v1/transactions', token)).status).toBe(200)
  })

  test('G1: after a pause, what is revoked holds at once, though the store takes almost as long as a renewal may', async () => {
    const edge = createEdgeFixture()
    const token = await edge.tokenFor('transactor')
    await edge.get('/v1/transactions', token)
    await edge.access.revokeClient('client-transactor', 1)
    await edge.clock.advance(5000)
    edge.access.hanging = true
    let answered: Response | undefined
    const pending = edge.get('/v1/transactions', token).then((response) => (answered = response))
    await edge.clock.timersSet(1)
    await edge.clock.advance(4999)
    expect(answered).toBeUndefined()
    edge.access.answer()
    expect((await pending).status).toBe(401)
  })

  test('G1: a renewal without an answer holds a request as long as one may take, later ones for at most 1 s', async () => {
    const edge = createEdgeFixture()
    const token = await edge.tokenFor('transactor')
    await edge.get('/v1/transactions', token)
    edge.access.hanging = true
    await edge.clock.advance(10_000)
    for (const heldMs of [5000, 1000]) {
      let answered: Response | undefined
      const pending = edge.get('/v1/transactions', token).then((response) => (answered = response))
      await edge.clock.timersSet(1)
      await edge.clock.advance(heldMs - 1)
      expect(answered).toBeUndefined()
      await edge.clock.advance(1)
      expect((await pending).status).toBe(200)
    }
    expect((await edge.get('/v1/transactions', token)).status).toBe(200)
    expect(edge.clock.pending()).toBe(0)
    edge.access.hanging = false
    await edge.access.revokeClient('client-transactor', 1)
    await edge.clock.advance(5000)
    expect((await edge.get('/v1/transactions', token)).status).toBe(401)
  })

  test('G2: a copy that comes to its end while a request waits is waited for on', async () => {
    const edge = createEdgeFixture()
    const token = await edge.tokenFor('transactor')
    await edge.get('/v1/transactions', token)
    await edge.clock.advance(29_500)
    edge.access.hanging = true
    const pending = edge.get('/v1/transactions', token)
    await edge.clock.timersSet(1)
    await edge.clock.advance(1000)
    await edge.clock.timersSet(1)
    edge.access.answer()
    expect((await pending).status).toBe(200)
  })

  test.for(['no copy', 'a copy of 30 s ago'])(
    'G2: with %s, a request is held as long as a renewal may take; where that was in vain, later ones for 1 s',
    async (what) => {
      const edge = createEdgeFixture()
      const token = await edge.tokenFor('transactor')
      if (what !== 'no copy') {
        await edge.get('/v1/transactions', token)
        await edge.clock.advance(30_000)
      }
      edge.access.hanging = true
      const heldUntil = async (advanceMs: number, then: () => void): Promise<number> => {
        let answered: Response | undefined
        const pending = edge.get('/v1/transactions', token).then((response) => (answered = response))
        await edge.clock.timersSet(1)
        await edge.clock.advance(advanceMs)
        expect(answered).toBeUndefined()
        then()
        return (await pending).status
      }
      expect(await heldUntil(4000, () => edge.access.answer())).toBe(200)
      await edge.clock.advance(30_000)
      edge.access.hanging = true
      expect(await heldUntil(4999, () => void edge.clock.advance(1))).toBe(503)
      expect(await heldUntil(999, () => void edge.clock.advance(1))).toBe(503)
      await edge.clock.advance(4000)
      expect(await heldUntil(999, () => edge.access.answer())).toBe(200)
    },
  )
})
