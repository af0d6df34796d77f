/** A loaded ledger in an embedded PostgreSQL of its own, in a data directory as `ledger up` keeps it: it may go on there. */
import { chmodSync } from 'node:fs'
import { join } from 'node:path'
import { startPostgres } from '../../../infra/embedded/postgres-server.ts'
import { makePrivateDirectory } from '../../../infra/system/private-file.ts'
import { isRoot } from '../../../infra/embedded/unprivileged-user.ts'
import { loadOrCreateMasterKey } from '../../../infra/keys/master-key.ts'
import type { WrappingKeys } from '../../../infra/keys/wrapping-keys.ts'
import { createOrMigrate } from '../../../infra/ledger/ledger-creation.ts'
import { type LoadedLedger, type LoadOptions, loadLedger } from './ledger-load.ts'

interface FreshLedgerOptions extends Omit<LoadOptions, 'url' | 'masterKey'> {
  /** New or empty. */
  readonly dataDir: string
  readonly shards?: number
  /** PostgreSQL runs: how to stop it, whatever becomes of the load. */
  readonly onStarted?: (stop: () => Promise<void>) => void
}

export interface FreshLedger extends LoadedLedger {
  /** Of the PostgreSQL that runs until `stop`. */
  readonly url: string
  readonly masterKey: WrappingKeys
  readonly masterKeyFile: string
  /** Of PostgreSQL; the data stays. */
  readonly stop: () => Promise<void>
}

/** Throws what `loadLedger` throws; PostgreSQL is stopped then. */
export async function loadFreshLedger(options: FreshLedgerOptions): Promise<FreshLedger> {
  const { dataDir, shards, onStarted, ...load } = options
  makePrivateDirectory(dataDir)
  // PostgreSQL's user must be able to pass through.
  if (isRoot()) chmodSync(dataDir, 0o711)
  const masterKeyFile = join(dataDir, 'master.key')
  const masterKey = await loadOrCreateMasterKey(masterKeyFile)
  const { url, stop } = await startPostgres({ dataDir: join(dataDir, 'postgres') })
  onStarted?.(stop)
  try {
    await createOrMigrate(url, { current: masterKey, previous: [] }, { shards })
    const loaded = await loadLedger({ ...load, url, masterKey })
    return { ...loaded, url, masterKey, masterKeyFile, stop }
  } catch (error) {
    await stop()
    throw error
  }
}
