/**
 * Goal: while nobody owns shards, each request is told what it is told for (D15): what is decided there is 503, what is
 * read stays readable. Real tables, real routes, a real gateway; only the network is missing, for nobody is there.
 */
import postgres from 'postgres'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { balanceOf } from '../../actors/account/state.ts'
import { actorKey } from '../../actors/address.ts'
import { parseQuantity } from '../../actors/money.ts'
import { createShardHash } from '../../infra/keys/shard-hash.ts'
import { createLedgerReads } from '../../infra/postgres/ledger-reads-postgres.ts'
import { listShards } from '../../infra/postgres/ownership.ts'
import { createShardHealth } from '../../infra/postgres/shard-health-postgres.ts'
import type { RowVault } from '../../infra/vault/row-vault.ts'
import { createSystemClock } from '../../infra/system/clock-system.ts'
import { Gateway, GATEWAY_DEFAULTS } from '../../runtime/edge/gateway.ts'
import { NOT_DELIVERED } from '../../runtime/ports/transport.ts'
import { Routes } from '../../runtime/routes.ts'
import { createLedgerDatabase, DEFAULT_SHARD_COUNT, type LedgerDatabase, vaultOf } from '../support/ledger-database.ts'
import { openAccount } from '../support/ledger-rows.ts'
import { insertRows } from '../support/sealed-rows.ts'
import { bodyOf, createEdgeFixture, type EdgeFixture, LEDGER_ID, refusalOf } from '../unit/api/edge-fixture.ts'
import { NO_RARE_PATHS } from '../../runtime/ports/rare-paths.ts'

const shardOf = createShardHash(Buffer.alloc(32, 7), DEFAULT_SHARD_COUNT)
const ACCOUNT_ID = 'alice'
const SUBMISSION = { account_id: ACCOUNT_ID, type: 'credit', amount: '1', idempotency_key: 'k', signature: 'AA' }

describe('a ledger whose nodes are gone', () => {
  let database: LedgerDatabase
  let sql: postgres.Sql
  let vault: RowVault
  let edge: EdgeFixture
  let routes: Routes
  let closing: (() => Promise<void>)[]

  beforeAll(async () => {
    database = await createLedgerDatabase()
    sql = postgres(database.url, { max: 1, onnotice: () => undefined })
    vault = await vaultOf(database.url)
    const { rows, account } = openAccount(shardOf(ACCOUNT_ID), ACCOUNT_ID)
    const balance = { ...balanceOf(account, 'BASE'), balance: parseQuantity('3'), updatedAtMs: 1 }
    const holding = { ...account, key: null, balances: new Map([['BASE', balance]]) }
    await sql`INSERT INTO shard_counts (shard_id, completed, failed) VALUES (${shardOf(ACCOUNT_ID)}, 5, 2)`
    await insertRows(sql, vault, shardOf(ACCOUNT_ID), {
      ...rows,
      keys: [],
      accounts: [{ previousVersion: 0, account: holding }],
      balances: [{ accountId: ACCOUNT_ID, tokenId: 'BASE', balance }],
    })
  })

  beforeEach(async () => {
    const clock = createSystemClock()
    const homeOf = (address: Parameters<typeof actorKey>[0]): number => shardOf(actorKey(address))
    const reads = createLedgerReads({ url: database.url, ledgerId: LEDGER_ID, shardOf, homeOf, vault, poolSize: 1 })
    const shardHealth = createShardHealth({ url: database.url })
    routes = new Routes({
      store: { shards: () => listShards(sql) },
      leases: { watchHints: () => ({ stop: () => undefined }) },
      clock,
      rare: NO_RARE_PATHS,
    })
    closing = [reads.close, shardHealth.close, async () => routes.stop()]
    await own([])
    await routes.start()
    const gateway = new Gateway({
      transport: {
        request: (_subject, _message, _timeoutMs, onReply) => {
          onReply(NOT_DELIVERED)
          return { close: () => undefined }
        },
        serve: () => ({ drain: () => Promise.resolve() }),
        maxMessageBytes: () => 1_000_000,
      },
      rare: NO_RARE_PATHS,
      routes,
      clock,
      random: { hex: (size) => 'ab'.repeat(size), integer: () => 0 },
      homeOf,
      settings: { ...GATEWAY_DEFAULTS, patienceMs: 100 },
    })
    edge = createEdgeFixture({ gateway, reads, shardHealth })
    return async () => {
      await Promise.all(closing.map((close) => close()))
    }
  })

  afterAll(async () => {
    await sql.end()
    await database.drop()
  })

  /** Only these shards have an owner, which is not there. */
  async function own(shardIds: readonly number[]): Promise<void> {
    await sql`
      UPDATE shards SET epoch = epoch + 1, node_id = owned.node_id, session = owned.session, updated_at = now() - interval '3 seconds'
        FROM (SELECT id, CASE WHEN id = ANY(${[...shardIds]}::integer[]) THEN 'node-1' END AS node_id,
                         CASE WHEN id = ANY(${[...shardIds]}::integer[]) THEN 'session-1' END AS session
                FROM generate_series(0, ${DEFAULT_SHARD_COUNT - 1}) id) owned
       WHERE shard_id = owned.id`
  }

  async function refused(path: string, send: (token: string) => Promise<Response>) {
    const response = await send(await edge.tokenFor('transactor'))
    expect([path, response.headers.get('retry-after')]).toEqual([path, '1'])
    const { type, outcome } = await bodyOf(response.clone())
    expect(type).toBe('https://ledger.example/errors/shard-unavailable')
    const { status, codes } = await refusalOf(response)
    return { status, codes, outcome }
  }
  const submit = () => refused('POST', (token) => edge.post('/v1/transactions', SUBMISSION, token))
  const readState = () => refused('GET', (token) => edge.get(`/v1/accounts/${ACCOUNT_ID}/state`, token))

  test('D15: with no owner at all a submission is ERR_NO_HEALTHY_SHARDS, and provably not applied', async () => {
    expect(await submit()).toEqual({ status: 503, codes: ['ERR_NO_HEALTHY_SHARDS'], outcome: 'not_applied' })
  })

  test('D15: with an owner of every shard but the one needed it is ERR_SHARD_UNAVAILABLE', async () => {
    const others = Array.from({ length: DEFAULT_SHARD_COUNT }, (_, id) => id).filter((id) => id !== shardOf(ACCOUNT_ID))
    await own(others)
    await expect.poll(() => (void routes.refresh(), routes.find(others[0] ?? 0))).toBeDefined()
    expect(await submit()).toEqual({ status: 503, codes: ['ERR_SHARD_UNAVAILABLE'], outcome: 'not_applied' })
  })

  test('D15: so it is with the state of an account, until its shard has an owner; what it holds stays readable', async () => {
    expect(await readState()).toEqual({ status: 503, codes: ['ERR_NO_HEALTHY_SHARDS'], outcome: undefined })
    await own([(shardOf(ACCOUNT_ID) + 1) % DEFAULT_SHARD_COUNT])
    expect(await readState()).toEqual({ status: 503, codes: ['ERR_SHARD_UNAVAILABLE'], outcome: undefined })
    const token = await edge.tokenFor('viewer')
    expect((await edge.get('/v1/accounts/nobody/state', token)).status).toBe(404)
    expect(await bodyOf(await edge.get(`/v1/accounts/${ACCOUNT_ID}/balances`, token))).toMatchObject({
      balances: [{ token_id: 'BASE', balance: '3' }],
    })
    for (const path of ['', '/nfts', '/balances/BASE', '/audit-chain']) {
      expect([path, (await edge.get(`/v1/accounts/${ACCOUNT_ID}${path}`, token)).status]).toEqual([path, 200])
    }
    await own([shardOf(ACCOUNT_ID)])
    expect((await edge.get(`/v1/accounts/${ACCOUNT_ID}/state`, token)).status).toBe(200)
  })

  test('D15: the shards say so themselves, and can be told to drain meanwhile', async () => {
    const token = await edge.tokenFor('admin')
    const { shards } = (await bodyOf(await edge.get('/v1/shards', token))) as { shards: object[] }
    expect(shards).toHaveLength(DEFAULT_SHARD_COUNT)
    for (const shard of shards) expect(shard).toMatchObject({ owner: null, health_state: 'unavailable' })
    const path = `/v1/shards/${shardOf(ACCOUNT_ID)}`
    expect(await bodyOf(await edge.get(path, token))).toMatchObject({ txn_count: 7 })
    const said = await edge.put(`${path}/health`, { health_state: 'draining', txn_count: 7 }, token)
    expect(await bodyOf(said)).toMatchObject({ owner: null, health_state: 'draining' })
    expect((await edge.put(`${path}/health`, { health_state: 'healthy', txn_count: 8 }, token)).status).toBe(409)
  })
})
