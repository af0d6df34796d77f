/** A proof of liabilities reconciles under load, and a revoked key invalidates it. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Holder, type HttpReply, LedgerClient, membersOf, send } from '../support/client/client.ts'
import type { Members, Value } from '../support/client/client-keys.ts'
import { accepted, ended, issued, moved, WAITING } from '../support/client/client-moves.ts'
import { type Cluster, startCluster, until } from '../support/processes/cluster-process.ts'
import { verifyOffline } from './offline-check.ts'
import type { Running } from './running.ts'
import { runLedger } from './start-harness.ts'

const TOKEN = 'OWED'

let running: Running | undefined

function getRunning(): Running {
  if (running === undefined) throw new Error('the ledger does not run')
  return running
}

beforeAll(async () => {
  const cluster = await startCluster({ nodes: 2, edges: 2 })
  const client = await LedgerClient.login(cluster.origin, cluster.clients.transactor)
  running = { cluster, client, elsewhere: client.at(cluster.origins[1] ?? '') }
})

afterAll(async () => {
  running?.client.close()
  running?.elsewhere.close()
  await running?.cluster.stop()
})

function askLiabilities(client: LedgerClient): Promise<HttpReply> {
  return client.post('/v1/assertions/proof-of-liabilities', { requester: 'an auditor' })
}

async function liabilitiesOf(client: LedgerClient): Promise<Members> {
  const reply = await askLiabilities(client)
  if (reply.status !== 200) throw new Error(`${reply.status} ${reply.body}`)
  return membersOf(reply)
}

/** Creates a group that moves half a unit from `one` to `other`, and submits both legs. */
async function settle(client: LedgerClient, one: Holder, other: Holder): Promise<void> {
  const sides = [
    { holder: one, type: 'debit' },
    { holder: other, type: 'credit' },
  ]
  const legs = sides.map(({ holder, type }) => ({
    account_id: holder.accountId,
    type,
    token_id: TOKEN,
    amount: '0.5',
  }))
  const { group_id: groupId = '', terms_hash: termsHash = '' } = membersOf(
    await client.post('/v1/settlement-groups', { legs }),
  )
  for (const { holder, type } of sides) {
    const leg = { type, token_id: TOKEN, amount: '0.5', group_id: groupId, terms_hash: termsHash }
    await accepted(client, holder, leg)
  }
  const group = await client.read(`/v1/settlement-groups/${String(groupId)}`, WAITING)
  if (group['status'] !== 'settled') throw new Error(`it does not settle: ${JSON.stringify(group)}`)
}

function totalOf(assertion: Members, tokenId: string): Value | undefined {
  const byToken = (assertion['result'] as Members)['by_token'] as readonly Members[]
  return byToken.find((one) => one['token_id'] === tokenId)?.['total']
}

test('I4: a proof reconciles at any time during transfers, groups, mints and burns', async () => {
  const { client, elsewhere } = getRunning()
  const issuer = await client.register('issuer@liabilities')
  await issued(client, TOKEN, issuer, '1000')
  const [one, two] = [await client.register('one@liabilities'), await client.register('two@liabilities')]
  for (const { accountId } of [one, two]) {
    await moved(client, issuer, { type: 'transfer', to_account_id: accountId, token_id: TOKEN, amount: '100' })
  }
  const moving = new AbortController()
  const again = async (move: () => Promise<unknown>): Promise<void> => {
    while (!moving.signal.aborted) await move()
  }
  const transfer = (from: Holder, to: Holder) =>
    again(async () => {
      const order = { type: 'transfer', to_account_id: to.accountId, token_id: TOKEN, amount: '0.01' }
      await ended(client, await accepted(client, from, order))
    })
  const minted = again(async () => {
    for (const type of ['mint', 'burn']) await moved(client, issuer, { type, token_id: TOKEN, amount: '1' })
  })
  const movers = [transfer(one, two), transfer(two, one), again(() => settle(client, one, two)), minted]
  const totals = new Set<unknown>()
  for (let look = 0; look < 6; look += 1) {
    totals.add(totalOf(await liabilitiesOf(look % 2 === 0 ? client : elsewhere), TOKEN))
  }
  moving.abort()
  await Promise.all(movers)
  expect(['1000', '1001']).toEqual(expect.arrayContaining([...totals]))
})

test('D12: a revoked key invalidates its proofs at every edge and offline, and a new key signs', async () => {
  const { client, elsewhere, cluster } = getRunning()
  const voided = membersOf(await askLiabilities(client))
  const { key_id: kid } = voided['result'] as Members
  const env = { LEDGER_DATA_DIR: cluster.dataDir, LEDGER_DATABASE_URL: cluster.databaseUrl() }
  const { code, out } = await runLedger(['keys', 'revoke', `--kid=${String(kid)}`], env)
  expect(code).toBe(0)
  const revocation = JSON.parse(out) as Members
  expect(revocation).toMatchObject({ kid, purpose: 'assertion', replaced_by: { purpose: 'assertion' } })
  await until('both edges have heard of it', 20_000, async () => everyEdge(cluster, kid))
  for (const edge of [client, elsewhere]) {
    expect(membersOf(await edge.post('/v1/assertions/verify', voided))).toMatchObject({
      valid: false,
      reason: expect.stringContaining('revoked'),
    })
    const fresh = membersOf(await askLiabilities(edge))
    expect((fresh['result'] as Members)['key_id']).toBe((revocation['replaced_by'] as Members)['kid'])
    expect(membersOf(await client.post('/v1/assertions/verify', fresh))).toMatchObject({ valid: true })
    expect(await verifyOffline(client, fresh)).toMatchObject({ code: 0 })
  }
  expect(await verifyOffline(client, voided)).toMatchObject({ code: 1, out: expect.stringContaining('is revoked') })
  expect(await runLedger(['keys', 'revoke', `--kid=${String(kid)}`], env)).toMatchObject({ code: 1 })
  expect(await runLedger(['keys', 'revoke'], env)).toMatchObject({ code: 2 })
})

async function everyEdge(cluster: Cluster, kid: unknown): Promise<boolean> {
  const shown = await Promise.all(
    cluster.origins.map(async (origin) => {
      const { body } = await send(origin, { method: 'GET', path: '/.well-known/jwks.json' })
      const { keys } = JSON.parse(body) as { keys: Members[] }
      return keys.some((key) => key['kid'] === kid && key['revoked'] !== undefined)
    }),
  )
  return shown.every(Boolean)
}
