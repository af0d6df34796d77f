/**
 * Goal: assertions of a ledger that runs. It has a ledger of its own, because it changes rows behind the ledger's back and
 * revokes keys.
 */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { LedgerClient, membersOf, send } from '../support/client.ts'
import type { Members } from '../support/client-keys.ts'
import { type Cluster, startCluster, until } from '../support/cluster-process.ts'
import { askLiabilities, liabilitiesSuite, verifyOffline } from './liabilities.suite.ts'
import type { Running } from './running.ts'
import { runLedger } from './start-harness.ts'

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

liabilitiesSuite(getRunning)

test('D12: a key that is revoked voids what it signed at every edge and offline, and another signs from then on', async () => {
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
