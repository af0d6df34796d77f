/**
 * If an edge dies at any point of a request, its idempotency key creates one object, and all senders get the same reply
 * (D7). An edge dies here like a process: without another call to the store.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createSystemClock } from '../../infra/system/clock-system.ts'
import { createIdempotencyStore } from '../../infra/postgres/access/idempotency-store-postgres.ts'
import type { IdempotencyStore } from '../../runtime/ports/idempotency-store.ts'
import type { LedgerGateway } from '../../runtime/edge/ledger-gateway.ts'
import { startWiredLedger, type WiredLedger } from '../support/wired-ledger.ts'
import { createEdgeFixture, newAccountKey } from '../unit/api/fakes/edge-fixture.ts'

let ledger: WiredLedger
const stores: ReturnType<typeof createIdempotencyStore>[] = []
beforeAll(async () => {
  ledger = await startWiredLedger()
})
afterAll(async () => {
  await Promise.all(stores.map((store) => store.close()))
  await ledger.close()
})

/** An edge with connections of its own, like those of a process. */
async function edge(dies: 'never' | 'before the request to the ledger' | 'before the reply is stored') {
  const store = createIdempotencyStore({ url: ledger.url, vault: ledger.secrets.vault })
  stores.push(store)
  const dead = (): Promise<never> => Promise.reject(new Error('the process is gone'))
  const idempotency: IdempotencyStore = dies === 'before the reply is stored' ? { ...store, finish: dead } : store
  const gateway: LedgerGateway = {
    ask: dies === 'before the request to the ledger' ? dead : ({ actor, operation }) => ledger.asked(actor, operation),
  }
  const { post, tokenFor } = createEdgeFixture({ idempotency, gateway, clock: createSystemClock() })
  const token = await tokenFor('admin')
  return {
    send: async (path: string, body: object, key: string) => {
      const sendOnce = () => post(path, body, token, { 'idempotency-key': key })
      let response = await sendOnce()
      // Like a client: a slow store may end a request without its reply.
      if (dies === 'never') while (response.status === 503) response = await sendOnce()
      const told = ['idempotency-replayed', 'idempotency-payload-mismatch'].map((name) => response.headers.get(name))
      return { status: response.status, body: await response.text(), told }
    },
  }
}

const KEY = newAccountKey()
const LEGS = [
  { account_id: 'payer', type: 'debit', amount: '1' },
  { account_id: 'payee', type: 'credit', amount: '1' },
]

/** Requests that create an object. `kind` selects the rows that `countOf` counts. */
const POSTS: readonly (readonly [path: string, body: (name: string) => object, kind: string])[] = [
  ['/v1/accounts', (name) => ({ account_id: `account-${name}`, public_key: KEY.pem }), 'account'],
  [
    '/v1/fungible-tokens',
    (name) => ({ symbol: `T-${name}`, decimals: 2, issuer: `issuer-${name}`, total_supply: '5' }),
    'token',
  ],
  ['/v1/nft-classes', (name) => ({ name, description: '', issuer: `issuer-${name}`, metadata_schema: {} }), 'class'],
  ['/v1/settlement-groups', (name) => ({ legs: LEGS, timeout_seconds: name.length * 10 }), 'group'],
]

async function countOf(kind: string): Promise<number> {
  const { sql } = ledger
  const [row] =
    kind === 'account'
      ? await sql`SELECT count(*)::integer AS found FROM accounts WHERE status = 'active'`
      : await sql`SELECT count(*)::integer AS found FROM actors WHERE kind = ${kind}`
  return Number(row?.['found'])
}

describe('a request with an idempotency key whose edge dies', () => {
  beforeAll(async () => {
    const { send } = await edge('never')
    for (const accountId of ['payer', 'payee']) {
      await send('/v1/accounts', { account_id: accountId, public_key: KEY.pem }, accountId)
    }
  })

  test.for(
    POSTS.flatMap(([path, body, kind]) =>
      (['before the request to the ledger', 'before the reply is stored'] as const).map(
        (dies) => [path, dies, body, kind] as const,
      ),
    ),
  )('%s creates one object and has one reply if the edge dies %s', async ([path, dies, body, kind]) => {
    const [key, mine, other] = [`key of ${path} ${dies}`, body(`one-${dies.length}`), body(`another-${dies.length}`)]
    const [dying, first, second] = [await edge(dies), await edge('never'), await edge('never')]
    const before = await countOf(kind)
    expect(await dying.send(path, mine, key)).toMatchObject({ status: 503 })
    const replies = await Promise.all(
      Array.from({ length: 8 }, (_, number) => (number % 2 === 0 ? first : second).send(path, mine, key)),
    )
    expect(new Set(replies.map(({ status, body: text }) => `${status} ${text}`)).size).toBe(1)
    expect(replies[0]?.status).toBe(201)
    const late = await second.send(path, other, key)
    expect(late).toEqual({ ...replies[0], told: ['true', 'true'] })
    expect((await countOf(kind)) - before).toBe(1)
  })

  test('changes the status of an account once, also if it is repeated after later changes', async () => {
    const path = '/v1/accounts/payer/status'
    const [dying, alive] = [await edge('before the reply is stored'), await edge('never')]
    const freeze = { status: 'frozen', reason: 'a court order' }
    expect((await dying.send(path, freeze, 'freeze')).status).toBe(503)
    expect((await alive.send(path, { status: 'active', reason: 'lifted' }, 'lift')).status).toBe(200)
    const again = await alive.send(path, freeze, 'freeze')
    expect(JSON.parse(again.body)).toMatchObject({ status: 'frozen', sequence: 1 })
    const { body } = await alive.send(path, { status: 'active', reason: 'lifted' }, 'look')
    expect(JSON.parse(body)).toMatchObject({ status: 'active', sequence: 2 })
  })

  test('creates one object if many senders use its key concurrently with two bodies', async () => {
    const [first, second] = [await edge('never'), await edge('never')]
    const before = await countOf('class')
    const bodies = ['Contended', 'Contested'].map((name) => ({
      name,
      description: '',
      issuer: 'issuer-of-both',
      metadata_schema: {},
    }))
    const replies = await Promise.all(
      Array.from({ length: 12 }, (_, number) =>
        (number % 2 === 0 ? first : second).send('/v1/nft-classes', bodies[(number >> 1) % 2] ?? {}, 'contended'),
      ),
    )
    expect(new Set(replies.map(({ status, body }) => `${status} ${body}`)).size).toBe(1)
    expect(replies.filter(({ told }) => told[0] === null)).toHaveLength(1)
    expect(replies.filter(({ told }) => told[1] === 'true')).toHaveLength(6)
    expect((await countOf('class')) - before).toBe(1)
  })
})
