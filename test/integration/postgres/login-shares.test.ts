/** Load from one network on the token endpoint does not block valid credentials from another network (D17). */
import postgres from 'postgres'
import { expect, test } from 'vitest'
import { createAccessStore } from '../../../infra/postgres/access/access-store-postgres.ts'
import { createLedgerDatabase, vaultOf } from '../../support/postgres/ledger-database.ts'
import { until } from '../../support/postgres/ledger-store-postgres.ts'
import { bodyOf, clientOf, createEdgeFixture, SECRET } from '../../unit/api/fakes/edge-fixture.ts'

const RIGHT = { client_id: 'ann', client_secret: SECRET }

test('I5: of 500 concurrent guesses from one network the edge checks 68, and other networks can log in', async () => {
  const database = await createLedgerDatabase()
  const store = createAccessStore({ url: database.url, vault: await vaultOf(database.url) })
  const sql = postgres(database.url, { max: 1, onnotice: () => undefined })
  const edge = createEdgeFixture({ access: store })
  const login = async (body: object, remoteAddress: string): Promise<Response> => {
    const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }
    const request = new Request('http://localhost/v1/auth/token', init)
    return await edge.app.fetch(request, { incoming: { socket: { remoteAddress } } })
  }
  try {
    await store.putClient(clientOf('ann', 'transactor'))
    const { refresh_token: refreshToken } = await bodyOf(await login(RIGHT, '203.0.113.9'))
    const other = await sql.reserve()
    await other`BEGIN`
    await other`LOCK TABLE clients IN ACCESS EXCLUSIVE MODE`
    const guesses = Array.from({ length: 500 }, (_, guess) => {
      const address = `2001:db8::${(guess % 100) + 1}`
      const named = Buffer.from(`guess-${guess}`).toString('base64url')
      return guess % 2 === 0
        ? login({ client_id: `guess-${guess}`, client_secret: `lsk_${'x'.repeat(43)}` }, address)
        : login({ grant_type: 'refresh_token', refresh_token: `rt_${'x'.repeat(43)}.${named}` }, address)
    })
    let refused = 0
    for (const guess of guesses) void guess.then(({ status }) => (refused += status === 503 ? 1 : 0))
    await until(async () => refused >= 500 - 64 - 4)
    const right = [
      login(RIGHT, '203.0.113.9'),
      login({ grant_type: 'refresh_token', refresh_token: refreshToken }, '203.0.113.9'),
    ]
    await other`COMMIT`
    other.release()
    expect((await Promise.all(right)).map(({ status }) => status)).toEqual([200, 200])
    const statuses = (await Promise.all(guesses)).map(({ status }) => status)
    expect(statuses.filter((status) => status === 401)).toHaveLength(64 + 4)
    expect(statuses.filter((status) => status === 503)).toHaveLength(500 - 64 - 4)
  } finally {
    await sql.end()
    await store.close()
    await database.drop()
  }
})
