/** `ledger monitor` as a process, against the log of the running ledger. */
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { LedgerClient, textOf } from '../../support/client/client.ts'
import type { GetRunning } from '../running.ts'
import { runLedger } from '../start-harness.ts'

const OWNER = 'monitored-1'

export function logMonitorSuite(running: GetRunning): void {
  const directory = mkdtempSync(join(tmpdir(), 'ledger-monitor-'))
  const pathOf = (name: string): string => join(directory, name)

  function monitor(...documents: readonly string[]) {
    const url = `${running().cluster.origins[1] ?? ''}/log`
    const files = ['--policy', pathOf('policy'), '--state', pathOf('state'), '--account-key', pathOf('keys')]
    return runLedger(['monitor', '--url', url, ...files, '--', ...documents.map(pathOf)])
  }

  async function saveChain(name: string): Promise<void> {
    const chain = await running().client.read(`/v1/accounts/${OWNER}/audit-chain?page_size=1000`)
    writeFileSync(pathOf(name), JSON.stringify(chain))
  }

  describe('ledger monitor', () => {
    test('finds nothing wrong, then an entry that no document of the owner has, until one has it', async () => {
      const { cluster, client } = running()
      const admin = await LedgerClient.login(cluster.origin, cluster.clients.admin)
      const owner = await client.register(OWNER)
      const credit = { type: 'credit', amount: '5' }
      expect((await client.submit(owner, { ...credit, idempotency_key: 'one' })).status).toBe(202)
      const logKey = (await client.get('/log/key')).body.trim()
      writeFileSync(pathOf('policy'), `log ${logKey} ${cluster.origin}/log\nquorum none\n`)
      const key = textOf(await admin.read(`/v1/accounts/${OWNER}/log-key`), 'log_key')
      admin.close()
      writeFileSync(pathOf('keys'), `${OWNER} ${key}\n`)
      await saveChain('first.json')
      // The log gets an entry within two seconds.
      await expect
        .poll(async () => (await monitor('first.json')).out)
        .toMatch(/: 2 known entries are in the log, and no others\n/)
      expect((await client.submit(owner, { ...credit, idempotency_key: 'two' })).status).toBe(202)
      await expect.poll(async () => (await monitor('first.json')).code).toBe(1)
      expect((await monitor('first.json')).out).toMatch(/\nNOT SHOWN: entry 2 of monitored-1: /)
      await saveChain('second.json')
      expect(await monitor('second.json')).toMatchObject({ code: 0, err: '' })
    })
  })
}
