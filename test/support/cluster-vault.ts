/** Opens the rows of a ledger that runs as processes: its master key is in its data directory. */
import { join } from 'node:path'
import { loadMasterKey } from '../../infra/keys/master-key.ts'
import type { LedgerSecrets } from '../../infra/ledger/ledger-secrets.ts'
import type { RowVault } from '../../infra/vault/row-vault.ts'
import type { Cluster } from './processes/cluster-process.ts'
import { secretsOf } from './postgres/ledger-database.ts'

type ClusterPlace = Pick<Cluster, 'dataDir' | 'databaseUrl'>

export async function secretsOfCluster(cluster: ClusterPlace): Promise<LedgerSecrets> {
  const current = await loadMasterKey(join(cluster.dataDir, 'master.key'))
  return secretsOf(cluster.databaseUrl(), { current, previous: [] })
}

export async function vaultOfCluster(cluster: ClusterPlace): Promise<RowVault> {
  return (await secretsOfCluster(cluster)).vault
}
