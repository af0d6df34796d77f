/** Goal: value moves between accounts as the interface says, and only so: whoever asks, in whatever order. */
import { afterAll, beforeAll, describe } from 'vitest'
import { LedgerClient } from '../support/client.ts'
import type { Cluster } from '../support/cluster-process.ts'
import { attacksSuite } from './attacks.suite.ts'
import { attestationsSuite } from './attestations.suite.ts'
import { exchangesSuite } from './exchanges.suite.ts'
import { groupAttacksSuite } from './group-attacks.suite.ts'
import { groupRevertsSuite } from './group-reverts.suite.ts'
import { groupsSuite } from './groups.suite.ts'
import { linkedGroupsSuite } from './linked-groups.suite.ts'
import { nftMintsSuite } from './nft-mints.suite.ts'
import { nftMovesSuite } from './nft-moves.suite.ts'
import type { GetRunning } from './running.ts'
import type { Scene } from './scene.ts'
import { scopedClientsSuite } from './scoped-clients.suite.ts'
import { runLedger } from './start-harness.ts'
import { strangerAttacksSuite } from './stranger-attacks.suite.ts'
import { tokensSuite } from './tokens.suite.ts'
import { transfersSuite } from './transfers.suite.ts'

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
    tokensSuite(getScene)
    transfersSuite(getScene)
    exchangesSuite(getScene)
    groupsSuite(getScene)
    groupRevertsSuite(getScene)
    linkedGroupsSuite(getScene)
    nftMintsSuite(getScene)
    nftMovesSuite(getScene)
    attestationsSuite(getScene)
    scopedClientsSuite(getScene)
    attacksSuite(getScene)
    groupAttacksSuite(getScene)
    strangerAttacksSuite(getScene)
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
