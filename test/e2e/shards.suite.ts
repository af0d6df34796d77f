/**
 * Goal: the ledger's information about its shards is true at every edge, and an administrator's settings are kept
 * (D15).
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Holder, type HttpReply, LedgerClient, membersOf, send, textOf } from '../support/client.ts'
import type { Members } from '../support/client-keys.ts'
import { funded, moved, submitted } from '../support/client-moves.ts'
import { until } from '../support/cluster-process.ts'
import type { GetRunning } from './running.ts'

const SHARDS = 256
/** Longer than a list of shards keeps its counts, and than a session is silent under load. */
const DEADLINE_MS = 180_000
const TIMESTAMP = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/

type Ask = (path: string) => Promise<Members>

function put(client: LedgerClient, shardId: number, body: Members): Promise<HttpReply> {
  return send(client.origin, {
    method: 'PUT',
    path: `/v1/shards/${shardId}/health`,
    headers: { ...client.authorization(), 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
}

export function shardsSuite(running: GetRunning): void {
  describe('shards', () => {
    let viewer: LedgerClient | undefined
    let admin: LedgerClient | undefined
    beforeAll(async () => {
      const { origin, clients } = running().cluster
      viewer = await LedgerClient.login(origin, clients.viewer)
      admin = await LedgerClient.login(origin, clients.admin)
    })
    afterAll(() => {
      viewer?.close()
      admin?.close()
    })
    const getAdmin = (): LedgerClient => {
      if (admin === undefined) throw new Error('no administrator is logged in')
      return admin
    }

    test('D15, D16: each is listed once, by ID, with a node for its owner, and is soon healthy, at both edges alike', async () => {
      const { elsewhere } = running()
      const listed = (): Promise<readonly Members[]> => elsewhere.readAll('/v1/shards', 'shards')
      await until('every shard is healthy', DEADLINE_MS, async () =>
        (await listed()).every((shard) => shard['health_state'] === 'healthy'),
      )
      const shards = await listed()
      expect(shards.map((shard) => shard['shard_id'])).toEqual(Array.from({ length: SHARDS }, (_, id) => id))
      expect(new Set(shards.map((shard) => shard['owner']))).toEqual(new Set(['node-1', 'node-2']))
      for (const shard of shards) {
        expect(shard).toEqual({
          shard_id: expect.any(Number),
          owner: expect.any(String),
          epoch: expect.any(Number),
          health_state: 'healthy',
          txn_count: expect.any(Number),
          updated_at: expect.stringMatching(TIMESTAMP),
        })
        expect(shard['epoch']).toBeGreaterThan(0)
      }
      expect(await viewer?.read('/v1/shards?page_size=3')).toMatchObject({
        shards: shards.slice(0, 3).map(({ shard_id: shardId, owner, epoch }) => ({ shard_id: shardId, owner, epoch })),
        total_count: SHARDS,
      })
    })

    counts(running)
    draining(running, getAdmin)
  })
}

function counts(running: GetRunning): void {
  test('D15: a shard counts what was processed in it, failed ones too, and pending ones not', async () => {
    const { client, elsewhere } = running()
    const holder = await funded(client, 'counted@shards', '10')
    const shardId = await shardOf(client, holder)
    const countAt = async (edge: LedgerClient): Promise<unknown> =>
      (await edge.read(`/v1/shards/${shardId}`))['txn_count']
    const before = Number(await countAt(client))
    for (const amount of ['1', '2', '3']) await moved(client, holder, { type: 'debit', amount })
    const failed = await submitted(client, holder, { type: 'debit', amount: '1000' })
    expect(failed['status']).toBe('failed')
    expect(await countAt(elsewhere)).toBe(before + 4)
    const alone = { type: 'exchange', amount: '1', token_id: 'NONE', to_account_id: 'x@shards' }
    expect((await client.submit(holder, { ...alone, idempotency_key: 'refused' })).status).toBeGreaterThan(399)
    expect(await countAt(client)).toBe(before + 4)
  })

  test('D15: the counts of all shards add up to all transactions that ended', async () => {
    const { client, elsewhere } = running()
    const totalOf = async (status: string): Promise<number> =>
      Number((await client.read(`/v1/transactions?status=${status}&page_size=1`))['total_count'])
    const ended = (await totalOf('completed')) + (await totalOf('failed'))
    expect(ended).toBeGreaterThan(4)
    let counted = 0
    await until('the lists have counted anew', DEADLINE_MS, async () => {
      const shards = await elsewhere.readAll('/v1/shards', 'shards')
      counted = shards.reduce((sum, shard) => sum + Number(shard['txn_count']), 0)
      return counted >= ended
    })
    expect(counted).toBe(ended)
  })
}

function draining(running: GetRunning, admin: () => LedgerClient): void {
  test('D15: a shard that is to be drained says so at every edge, goes on serving, and is healthy again when told', async () => {
    const { client, elsewhere } = running()
    const holder = await funded(client, 'drained@shards', '10')
    const shardId = await shardOf(client, holder)
    const ask: Ask = (path) => elsewhere.read(path)
    const { txn_count: processed } = await ask(`/v1/shards/${shardId}`)
    const said = await put(admin(), shardId, { health_state: 'draining', txn_count: Number(processed) })
    expect([said.status, membersOf(said)['health_state']]).toEqual([200, 'draining'])
    expect(await ask(`/v1/shards/${shardId}`)).toMatchObject({ health_state: 'draining' })
    await moved(client, holder, { type: 'debit', amount: '4' })
    expect(await ask(`/v1/accounts/${holder.accountId}/state`)).toMatchObject({ account_id: holder.accountId })
    const listed = await elsewhere.readAll('/v1/shards', 'shards')
    expect(listed.filter((shard) => shard['health_state'] === 'draining')).toMatchObject([{ shard_id: shardId }])
    expect((await put(admin(), shardId, { health_state: 'healthy' })).status).toBe(200)
    await until('it is healthy again', DEADLINE_MS, async () => {
      return (await ask(`/v1/shards/${shardId}`))['health_state'] === 'healthy'
    })
  })
}

async function shardOf(client: LedgerClient, { accountId }: Holder): Promise<number> {
  const account = await client.read(`/v1/accounts/${accountId}`)
  expect(textOf(account, 'account_id')).toBe(accountId)
  return Number(account['shard_id'])
}
