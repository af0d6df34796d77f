/** A PostgreSQL database with its reads, and a ledger store that writes its rows. */
import { randomBytes } from 'node:crypto'
import { type ActorAddress, actorKey } from '../../../actors/address.ts'
import { createShardHash } from '../../../infra/keys/shard-hash.ts'
import { createLedgerReads, type PostgresLedgerReads } from '../../../infra/postgres/reads/ledger-reads-postgres.ts'
import {
  createPostgresLedgerStore,
  type PostgresLedgerStore,
} from '../../../infra/postgres/store/ledger-store-postgres.ts'
import type { RowVault } from '../../../infra/vault/row-vault.ts'
import type { ShardToken } from '../../../runtime/ports/ledger-store.ts'
import {
  createLedgerDatabase,
  DEFAULT_SHARD_COUNT,
  type LedgerDatabase,
  vaultOf,
} from '../../support/postgres/ledger-database.ts'
import { SILENT } from '../../support/postgres/ledger-store-postgres.ts'
import type { ShardSeed } from './ledger-reads-rows.ts'
import type { LedgerReadsSubject } from './ledger-reads-scene.ts'

export const LEDGER_ID = 'ledger-under-test'
export const shardOf = createShardHash(Buffer.alloc(32, 7), DEFAULT_SHARD_COUNT)
export const homeOf = (actor: ActorAddress): number => shardOf(actorKey(actor))

export interface PostgresSubject extends LedgerReadsSubject {
  readonly reads: PostgresLedgerReads
  readonly database: LedgerDatabase
  /** Holds the ledger's keys. */
  readonly vault: RowVault
}

export async function createPostgresSubject(): Promise<PostgresSubject> {
  const database = await createLedgerDatabase()
  const { url } = database
  const session = randomBytes(16).toString('hex')
  const store = await createPostgresLedgerStore({
    url,
    nodeId: 'node',
    session,
    log: SILENT,
    vault: await vaultOf(url),
  })
  const reads = createLedgerReads({
    url,
    ledgerId: LEDGER_ID,
    shardOf,
    homeOf,
    vault: await vaultOf(url),
    poolSize: 3,
  })
  const tokens = new Map<number, ShardToken>()
  return {
    reads,
    database,
    vault: await vaultOf(url),
    ledgerId: LEDGER_ID,
    shardOf,
    write: async (seeds) => {
      for (const seed of seeds) await commit(store, tokens, seed)
    },
    close: async () => {
      await Promise.all([reads.close(), store.close()])
      await database.drop()
    },
  }
}

async function commit(store: PostgresLedgerStore, tokens: Map<number, ShardToken>, seed: ShardSeed): Promise<void> {
  const token = tokens.get(seed.shardId) ?? (await owned(store, seed.shardId))
  tokens.set(seed.shardId, token)
  const verdict = await store.commit({ shards: [{ token, ...seed.rows }] })
  if (verdict.kind !== 'answered' || !verdict.committed.has(seed.shardId)) throw new Error(JSON.stringify(verdict))
}

async function owned(store: PostgresLedgerStore, shardId: number): Promise<ShardToken> {
  const result = await store.acquire(shardId, 0, 1)
  if (result.kind !== 'owned') throw new Error(`shard ${shardId} is ${result.kind}`)
  return result.token
}
