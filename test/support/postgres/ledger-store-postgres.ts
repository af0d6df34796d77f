/** Stores on PostgreSQL for tests: each session behind a wire of its own that can be cut. */
import { randomBytes } from 'node:crypto'
import postgres from 'postgres'
import {
  createPostgresLedgerStore,
  type PostgresLedgerStore,
  type PostgresLedgerStoreOptions,
} from '../../../infra/postgres/store/ledger-store-postgres.ts'
import { formatQuantity, parseQuantity, type Quantity, ZERO } from '../../../actors/money.ts'
import { type CrossingsRow, openCrossings } from '../../../infra/postgres/rows/boundary-crossings.ts'
import { nftKeyName, PLACES } from '../../../infra/postgres/rows/row-sealer.ts'
import { classKeyName, type KeyName, LEDGER_KEY_NAME, partsOf } from '../../../infra/vault/key-name.ts'
import { createKeyWrapping, newDataKey } from '../../../infra/vault/key-wrapping.ts'
import type { RowVault } from '../../../infra/vault/row-vault.ts'
import type { NftEvent } from '../../../actors/nft-instance/state.ts'
import type { Log } from '../../../runtime/ports/log.ts'
import type {
  BoundaryTotal,
  HeldCommits,
  LedgerStoreHarness,
  SessionUnderTest,
} from '../../contract/ledger-store/ledger-store-harness.ts'
import { createLedgerDatabase, DEFAULT_SHARD_COUNT, TEST_MASTER_KEYS, vaultOf } from './ledger-database.ts'
import { CLASS_ID } from './ledger-rows-nfts.ts'
import { startTcpProxy, type TcpProxy } from '../processes/tcp-proxy.ts'

export const SILENT: Log = { info: () => undefined, warn: () => undefined, error: () => undefined }
const DEADLINE_MS = 180_000
const POLL_MS = 10

export interface PostgresSession extends SessionUnderTest {
  readonly store: PostgresLedgerStore
  readonly wire: TcpProxy
  /** Names of the events logged. */
  readonly events: readonly string[]
}

export interface PostgresHarness extends LedgerStoreHarness {
  readonly open: (options?: Partial<PostgresLedgerStoreOptions>) => Promise<PostgresSession>
  /** An operator's connections to the same database, not behind a wire. */
  readonly sql: postgres.Sql
  readonly url: string
}

export async function createPostgresHarness(): Promise<PostgresHarness> {
  const database = await createLedgerDatabase()
  const vault = await vaultOf(database.url)
  const sql = postgres(database.url, { max: 4, onnotice: () => undefined })
  // The contract writes instances of a class that it does not always register.
  await createKey(sql, classKeyName(CLASS_ID))
  const sessions: PostgresSession[] = []
  const holds = new Set<HeldCommits>()
  return {
    shardCount: DEFAULT_SHARD_COUNT,
    sql,
    url: database.url,
    run: (work) => work,
    passTime: pause,
    boundaryTotals: () => readBoundaryTotals(sql, vault),
    nftEvents: (shardId, nftId) => readNftEvents(sql, shardId, nftId, vault),
    open: async (options = {}) => {
      const session = await openSession(database.url, sql, holds, { nodeId: `node.${sessions.length}`, ...options })
      sessions.push(session)
      return session
    },
    close: async () => {
      for (const held of holds) await held.letGo()
      for (const { store, wire } of sessions) {
        await wire.close()
        await store.close()
      }
      await sql.end()
      await database.drop()
    },
  }
}

async function createKey(sql: postgres.Sql, name: KeyName): Promise<void> {
  const { scope, ref } = partsOf(name)
  const { masterKeyId, wrapped } = createKeyWrapping(TEST_MASTER_KEYS).wrap(name, newDataKey())
  await sql`
    INSERT INTO data_keys (shard_id, scope, ref, master_key_id, wrapped)
    VALUES (0, ${scope}, ${ref}, ${masterKeyId}, ${wrapped})`
}

export async function readBoundaryTotals(sql: postgres.Sql, vault: RowVault): Promise<Map<string, BoundaryTotal>> {
  await vault.keys.fetch(sql, [LEDGER_KEY_NAME])
  const rows = await sql<CrossingsRow[]>`SELECT * FROM boundary_crossings`
  const totals = new Map<string, { credited: Quantity; debited: Quantity }>()
  for (const { tokenId, credited, debited } of rows.flatMap((row) => openCrossings(row, vault))) {
    const before = totals.get(tokenId) ?? { credited: ZERO, debited: ZERO }
    totals.set(tokenId, {
      credited: before.credited + parseQuantity(credited),
      debited: before.debited + parseQuantity(debited),
    })
  }
  return new Map(
    [...totals].map(([tokenId, { credited, debited }]) => [
      tokenId,
      { credited: formatQuantity(credited), debited: formatQuantity(debited) },
    ]),
  )
}

interface NftEventRow {
  readonly number: number
  readonly type: NftEvent['type']
  readonly txn_id: string
  readonly occurred_at: Date
  readonly previous_hash: Buffer
  readonly event_hash: Buffer
  readonly payload: Buffer
}

async function readNftEvents(sql: postgres.Sql, shardId: number, nftId: string, vault: RowVault): Promise<NftEvent[]> {
  const name = nftKeyName(nftId, shardId)
  await vault.keys.fetch(sql, [name])
  const rows = await sql<NftEventRow[]>`
    SELECT * FROM nft_events WHERE shard_id = ${shardId} AND nft_id = ${nftId} ORDER BY number`
  return rows.map((row) => {
    const payload = vault.open(name, PLACES.nftEvent(shardId, nftId, row.number), row.payload)
    const { from, to } = JSON.parse(payload) as Pick<NftEvent, 'from' | 'to'>
    return {
      number: row.number,
      type: row.type,
      from,
      to,
      txnId: row.txn_id,
      atMs: row.occurred_at.getTime(),
      previousHash: row.previous_hash.toString('hex'),
      eventHash: row.event_hash.toString('hex'),
      payload,
    }
  })
}

async function openSession(
  url: string,
  sql: postgres.Sql,
  holds: Set<HeldCommits>,
  options: Partial<PostgresLedgerStoreOptions> & { readonly nodeId: string },
): Promise<PostgresSession> {
  const address = new URL(url)
  const wire = await startTcpProxy({ host: address.hostname, port: Number(address.port) })
  address.port = String(wire.port)
  const session = options.session ?? randomBytes(16).toString('hex')
  const events: string[] = []
  const note = (event: string): void => void events.push(event)
  const log: Log = { info: note, warn: note, error: note }
  const vault = await vaultOf(url)
  const store = await createPostgresLedgerStore({ url: address.toString(), session, log, vault, ...options })
  return {
    store,
    nodeId: options.nodeId,
    session,
    wire,
    events,
    loseNextCommit: wire.loseNextCommit,
    loseNextAnswer: () => wire.loseNextAnswer('cut'),
    holdCommits: () => holdAtCounts(sql, session, holds),
    cutOff: wire.cutClients,
    crash: wire.close,
  }
}

/** A trigger on a table that every commit with transactions writes: the session waits there, holding its locks. */
const WAIT_AT_COUNTS = `
CREATE OR REPLACE FUNCTION wait_for_test() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_advisory_xact_lock_shared(hashtextextended(right(current_setting('application_name'), 32), 0));
  RETURN NULL;
END $$;
CREATE OR REPLACE TRIGGER wait_for_test AFTER INSERT ON commit_counts EXECUTE FUNCTION wait_for_test()`

async function holdAtCounts(sql: postgres.Sql, session: string, holds: Set<HeldCommits>): Promise<HeldCommits> {
  const holder = await sql.reserve()
  await holder.unsafe(WAIT_AT_COUNTS)
  await holder`BEGIN`
  await holder`SELECT pg_advisory_xact_lock(hashtextextended(${session}, 0))`
  const held: HeldCommits = {
    reached: () =>
      until(async () => {
        const waiting = await sql`
          SELECT 1 FROM pg_stat_activity
           WHERE right(application_name, 32) = ${session} AND wait_event_type = 'Lock' AND query LIKE 'WITH fence%'`
        return waiting.length > 0
      }),
    letGo: async () => {
      if (!holds.delete(held)) return
      await holder`ROLLBACK`
      holder.release()
    },
  }
  holds.add(held)
  return held
}

/** Polls a condition; throws when it has not come true after `DEADLINE_MS`. */
export async function until(holds: () => Promise<boolean> | boolean): Promise<void> {
  const deadlineMs = performance.now() + DEADLINE_MS
  while (!(await holds())) {
    if (performance.now() > deadlineMs) throw new Error('the condition did not come true in time')
    await pause(POLL_MS)
  }
}

function pause(durationMs: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, durationMs)
  })
}
