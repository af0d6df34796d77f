/** Goal: value moves between accounts as the interface defines, and in no other way, for any clients in any order. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { LedgerClient } from '../support/client.ts'
import { funded, keyed, moved, outcomeOf } from '../support/client-moves.ts'
import type { Cluster } from '../support/cluster-process.ts'
import { attestationsSuite } from './attestations.suite.ts'
import { concurrentMovesSuite } from './concurrent-moves.suite.ts'
import { endedMovesSuite } from './ended-moves.suite.ts'
import type { GetRunning } from './running.ts'
import type { Scene } from './scene.ts'
import { scopedClientsSuite } from './scoped-clients.suite.ts'
import { runLedger } from './start-harness.ts'

export function valueMovesSuite(running: GetRunning): void {
  describe('value moves', () => {
    let scene: Scene | undefined

    beforeAll(async () => {
      const { cluster } = running()
      const [admin, stranger, ungranted] = await Promise.all([
        LedgerClient.login(cluster.origin, cluster.clients.admin),
        addClient(cluster, 'stranger', 'true'),
        addClient(cluster, 'ungranted', 'false'),
      ])
      scene = { ...running(), admin, stranger, ungranted }
    })

    afterAll(() => {
      for (const client of [scene?.admin, scene?.stranger, scene?.ungranted]) client?.close()
    })

    const getScene = (): Scene => {
      if (scene === undefined) throw new Error('the clients are not there')
      return scene
    }
    test('a client that may bring nothing in from outside the ledger credits no account, and debits one', async () => {
      const { client, ungranted } = getScene()
      const holder = await funded(client, 'holder@ungranted', '5')
      const credit = await ungranted.submit(holder, keyed({ type: 'credit', amount: '5' }))
      expect(outcomeOf(credit)).toBe('403 ERR_FORBIDDEN')
      await moved(ungranted, holder, { type: 'debit', amount: '5' })
    })

    concurrentMovesSuite(getScene)
    endedMovesSuite(getScene)
    attestationsSuite(getScene)
    scopedClientsSuite(getScene)
  })
}

/** As an operator does it. `boundary`: as the option of the command. */
async function addClient(cluster: Cluster, clientId: string, boundary: string): Promise<LedgerClient> {
  const args = ['client', 'add', '--id', clientId, '--role', 'transactor', '--boundary', boundary]
  const { code, out, err } = await runLedger(args, { LEDGER_DATA_DIR: cluster.dataDir })
  if (code !== 0) throw new Error(`client add: ${err}`)
  const { client_secret: clientSecret } = JSON.parse(out) as { readonly client_secret: string }
  return LedgerClient.login(cluster.origin, { clientId, clientSecret })
}
