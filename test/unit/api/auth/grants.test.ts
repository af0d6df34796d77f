/** An edge applies a revocation or change of a client within 5 s. Without its store it soon refuses requests and queues none. */
import { expect, test, vi } from 'vitest'
import { createGrants } from '../../../../api/auth/grants.ts'
import { AccessStoreUnavailable } from '../../../../runtime/ports/access-store.ts'
import { createManualClock } from '../http/waiting-clock.ts'
import { bodyOf, clientOf, createEdgeFixture, type EdgeFixture, refusalOf, signedIn } from '../fakes/edge-fixture.ts'

const QUIET = { clock: createManualClock(0), log: { info: () => {}, warn: () => {}, error: () => {} } }

type Scene = Awaited<ReturnType<typeof scene>>

/** A client whose grant the edge has cached, unless `asked` is false. */
async function scene(asked = true) {
  const { edge, token } = await signedIn('transactor')
  if (asked) await edge.get('/v1/transactions', token)
  return { edge, token }
}

test('G1: a revoked client, a revoked session and a changed role take effect within 5 s', async () => {
  const edge = createEdgeFixture()
  const tokens = [await edge.tokenFor('viewer'), await edge.tokenFor('transactor'), await edge.tokenFor('admin')]
  for (const token of tokens) expect((await edge.get('/v1/transactions', token)).status).toBe(200)
  await edge.access.revokeClient('client-viewer', 1)
  edge.access.revokeSession(1)
  edge.access.clients.set('client-admin', clientOf('client-admin', 'viewer'))
  await edge.clock.advance(5000)
  expect((await edge.get('/v1/transactions', tokens[0])).status).toBe(401)
  expect((await edge.get('/v1/transactions', tokens[1])).status).toBe(401)
  expect((await edge.get('/v1/transactions', tokens[2])).status).toBe(200)
  expect((await edge.get('/v1/accounts', tokens[2])).status).toBe(403)
})

test('G1: while requests arrive, the edge polls for changes in the background every 2 s', async () => {
  const { edge, token } = await scene()
  expect(edge.access.checked).toBe(1)
  await edge.clock.advance(1999)
  await edge.get('/v1/transactions', token)
  expect(edge.access.checked).toBe(1)
  await edge.clock.advance(1)
  edge.access.hanging = true
  expect((await edge.get('/v1/transactions', token)).status).toBe(200)
  expect(edge.access.checked).toBe(2)
})

test('a client created after the last check is admitted', async () => {
  const edge = createEdgeFixture()
  await edge.get('/v1/transactions', await edge.tokenFor('viewer'))
  expect((await edge.get('/v1/transactions', await edge.tokenFor('admin'))).status).toBe(200)
  expect(edge.access.checked).toBe(1)
})

test('G2: a copy is trusted for 30 s of failing renewals, then no client is admitted until one succeeds', async () => {
  const { edge, token } = await scene()
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

/** The status of a request that the edge holds for `heldMs`, until `then` runs. */
async function heldFor({ edge, token }: Scene, heldMs: number, then: (edge: EdgeFixture) => void): Promise<number> {
  let answered: Response | undefined
  const pending = edge.get('/v1/transactions', token).then((response) => (answered = response))
  await edge.clock.timersSet(1)
  await edge.clock.advance(heldMs - 1)
  expect(answered).toBeUndefined()
  then(edge)
  return (await pending).status
}
const answer = ({ access }: EdgeFixture): void => access.answer()
const wait = ({ clock }: EdgeFixture): void => void clock.advance(1)

test('G1: the first request after a pause waits for the renewal, up to its limit, and sees the revocation', async () => {
  const { edge, token } = await scene()
  await edge.access.revokeClient('client-transactor', 1)
  await edge.clock.advance(5000)
  edge.access.hanging = true
  expect(await heldFor({ edge, token }, 5000, answer)).toBe(401)
})

test('G1: a renewal without a reply holds the first request for 5 s and later ones for at most 1 s', async () => {
  const { edge, token } = await scene()
  edge.access.hanging = true
  await edge.clock.advance(10_000)
  for (const heldMs of [5000, 1000]) expect(await heldFor({ edge, token }, heldMs, wait)).toBe(200)
  expect((await edge.get('/v1/transactions', token)).status).toBe(200)
  expect(edge.clock.pending()).toBe(0)
  edge.access.hanging = false
  await edge.access.revokeClient('client-transactor', 1)
  await edge.clock.advance(5000)
  expect((await edge.get('/v1/transactions', token)).status).toBe(401)
})

test('G2: a request goes on waiting for the renewal when the copy expires meanwhile', async () => {
  const { edge, token } = await scene()
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
  'G2: with %s, a request waits 5 s for the renewal; after a failed renewal, later requests wait 1 s',
  async (what) => {
    const { edge, token } = await scene(what !== 'no copy')
    if (what !== 'no copy') await edge.clock.advance(30_000)
    const held = (heldMs: number, then: typeof wait) => heldFor({ edge, token }, heldMs, then)
    edge.access.hanging = true
    expect(await held(4001, answer)).toBe(200)
    await edge.clock.advance(30_000)
    edge.access.hanging = true
    expect([await held(5000, wait), await held(1000, wait)]).toEqual([503, 503])
    await edge.clock.advance(4000)
    expect(await held(1000, answer)).toBe(200)
  },
)

test('G5: a session is looked up once for any number of concurrent and later requests', async () => {
  const { edge, token } = await signedIn('viewer')
  const lookedUp = vi.spyOn(edge.access, 'findAccess')
  await Promise.all(Array.from({ length: 10 }, () => edge.get('/v1/transactions', token)))
  for (let round = 0; round < 10; round += 1) {
    await edge.clock.advance(2000)
    expect((await edge.get('/v1/transactions', token)).status).toBe(200)
  }
  expect(lookedUp).toHaveBeenCalledTimes(1)
  expect(edge.access.checked).toBe(11)
})

test('G5: only sessions affected by a change are looked up again', async () => {
  const edge = createEdgeFixture()
  const [viewer, admin] = [await edge.tokenFor('viewer'), await edge.tokenFor('admin')]
  for (const token of [viewer, admin]) await edge.get('/v1/transactions', token)
  const lookedUp = vi.spyOn(edge.access, 'findAccess')
  edge.access.clients.set('client-admin', clientOf('client-admin', 'viewer'))
  await edge.clock.advance(5000)
  expect((await edge.get('/v1/accounts', admin)).status).toBe(403)
  expect((await edge.get('/v1/transactions', viewer)).status).toBe(200)
  expect(lookedUp.mock.calls.map(([clientId]) => clientId)).toEqual(['client-admin'])
})

test('G5: if the store cannot list the changes, the edge looks up every session again', async () => {
  const { edge, token } = await scene()
  edge.access.clients.delete('client-transactor')
  vi.spyOn(edge.access, 'changesSince').mockResolvedValue({ mark: 'x', changed: null })
  await edge.clock.advance(5000)
  expect((await edge.get('/v1/transactions', token)).status).toBe(401)
})

test('G5: a look-up from before a change is dropped at the check that returns the change', async () => {
  const { edge, token } = await signedIn('viewer')
  await edge.get('/v1/transactions', await edge.tokenFor('admin'))
  const { findAccess } = edge.access
  let release: (() => void) | undefined
  vi.spyOn(edge.access, 'findAccess').mockImplementationOnce(async (clientId, sessionId) => {
    const read = await findAccess(clientId, sessionId)
    await new Promise<void>((resolve) => {
      release = resolve
    })
    return read
  })
  const early = edge.get('/v1/transactions', token)
  await expect.poll(() => release).toBeDefined()
  await edge.access.revokeClient('client-viewer', 1)
  await edge.clock.advance(5000)
  await edge.get('/v1/transactions', await edge.tokenFor('admin'))
  release?.()
  expect((await early).status).toBe(200)
  expect((await edge.get('/v1/transactions', token)).status).toBe(401)
})

function countingGrants() {
  const lookedUp: string[] = []
  const grants = createGrants({
    access: {
      changesSince: async () => ({ mark: '0', changed: null }),
      findAccess: async (clientId, sessionId) => {
        lookedUp.push(sessionId)
        return { client: clientOf(clientId, 'viewer'), sessionLive: true }
      },
    },
    ...QUIET,
  })
  return { grants, lookedUp }
}

test('G6: beyond 10,000 sessions the edge evicts the least recently used ones and looks them up again', async () => {
  const { grants, lookedUp } = countingGrants()
  for (let session = 0; session < 10_000; session += 1) await grants.grantOf('ann', `s${session}`)
  await grants.grantOf('ann', 's0')
  await grants.grantOf('ann', 's10000')
  lookedUp.length = 0
  for (const session of ['s10000', 's0', 's1001', 's1000', 's1']) {
    expect((await grants.grantOf('ann', session)).ok).toBe(true)
  }
  expect(lookedUp).toEqual(['s1000', 's1'])
})

test('G6: look-ups of one client run two at a time, and do not delay another client', async () => {
  const atStore: string[] = []
  const grants = createGrants({
    access: {
      changesSince: async () => ({ mark: '0', changed: null }),
      findAccess: (clientId) => {
        atStore.push(clientId)
        return new Promise(() => {})
      },
    },
    ...QUIET,
  })
  for (let session = 0; session < 100; session += 1) void grants.grantOf('ann', `s${session}`)
  void grants.grantOf('bob', 'his')
  await expect.poll(() => atStore).toContain('bob')
  expect(atStore).toEqual(['ann', 'ann', 'bob'])
})

test('G6: a client that uses 30,000 sessions in turn evicts no session of clients with fewer', async () => {
  const { grants, lookedUp } = countingGrants()
  const others = Array.from({ length: 2_000 }, (_, other) => [`client${other % 1_000}`, `other${other}`] as const)
  for (const [clientId, sessionId] of others) await grants.grantOf(clientId, sessionId)
  for (let session = 0; session < 30_000; session += 1) await grants.grantOf('ann', `s${session}`)
  lookedUp.length = 0
  for (const [clientId, sessionId] of others) await grants.grantOf(clientId, sessionId)
  expect(lookedUp).toEqual([])
})
