/** What opens the rows of a ledger that runs in processes of its own: its master key lies in its data directory. */
import { join } from 'node:path'
import { loadMasterKey } from '../../infra/keys/master-key.ts'
import type { RowVault } from '../../infra/vault/row-vault.ts'
import type { Cluster } from './cluster-process.ts'
import { secretsOf } from './ledger-database.ts'

export async function vaultOfCluster(cluster: Pick<Cluster, 'dataDir' | 'databaseUrl'>): Promise<RowVault> {
  const current = await loadMasterKey(join(cluster.dataDir, 'master.key'))
  return (await secretsOf(cluster.databaseUrl(), { current, previous: [] })).vault
}
