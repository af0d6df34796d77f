/** A revoked key invalidates the proofs of liabilities that it signed, at every edge and offline (D12). */
import { describe, expect, test } from 'vitest'
import { type HttpReply, type LedgerClient, membersOf, send } from '../../support/client/client.ts'
import type { Members } from '../../support/client/client-keys.ts'
import { type Cluster, until } from '../../support/processes/cluster-process.ts'
import { verifyOffline } from '../offline-check.ts'
import type { GetRunning } from '../running.ts'
import { runLedger } from '../start-harness.ts'

const HEARD_WITHIN_MS = 180_000

function askLiabilities(client: LedgerClient): Promise<HttpReply> {
  return client.post('/v1/assertions/proof-of-liabilities', { requester: 'an auditor' })
}

export function revokedKeysSuite(running: GetRunning): void {
  describe('a revoked key', () => {
    test('D12: invalidates its proofs at every edge and offline, and a new key signs', async () => {
      const { client, elsewhere, cluster } = running()
      const voided = membersOf(await askLiabilities(client))
      const { key_id: kid } = voided['result'] as Members
      const env = { LEDGER_DATA_DIR: cluster.dataDir, LEDGER_DATABASE_URL: cluster.databaseUrl() }
      const { code, out } = await runLedger(['keys', 'revoke', `--kid=${String(kid)}`], env)
      expect(code).toBe(0)
      const revocation = JSON.parse(out) as Members
      expect(revocation).toMatchObject({ kid, purpose: 'assertion', replaced_by: { purpose: 'assertion' } })
      await until('both edges have heard of it', HEARD_WITHIN_MS, async () => everyEdge(cluster, kid))
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
  })
}

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
