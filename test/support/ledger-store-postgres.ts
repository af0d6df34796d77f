/** Stores on PostgreSQL for tests: each session behind a wire of its own that can be cut. */
import { randomBytes } from 'node:crypto'
import postgres from 'postgres'
import {
  createPostgresLedgerStore,
  type PostgresLedgerStore,
  type PostgresLedgerStoreOptions,
} from '../../infra/postgres/ledger-store-postgres.ts'
import type { NftEvent } from '../../actors/nft-instance/state.ts'
import type { Log } from '../../runtime/ports/log.ts'
import type {
  BoundaryTotal,
  HeldCommits,
  LedgerStoreHarness,
  SessionUnderTest,
} from '../contract/ledger-store-harness.ts'
import { createLedgerDatabase, DEFAULT_SHARD_COUNT } from './ledger-database.ts'
import { startTcpProxy, type TcpProxy } from './tcp-proxy.ts'

export const SILENT: Log = { info: () => undefined, warn: () => undefined, error: () => undefined }
const DEADLINE_MS = 20_000
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
  const sql = postgres(database.url, { max: 4, onnotice: () => undefined })
  const sessions: PostgresSession[] = []
  const holds = new Set<HeldCommits>()
  return {
    shardCount: DEFAULT_SHARD_COUNT,
    sql,
    url: database.url,
    run: (work) => work,
    passTime: pause,
    boundaryTotals: () => readBoundaryTotals(sql),
    nftEvents: (shardId, nftId) => readNftEvents(sql, shardId, nftId),
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

async function readBoundaryTotals(sql: postgres.Sql): Promise<Map<string, BoundaryTotal>> {
  const rows = await sql<{ token_id: string; credited: string; debited: string }[]>`
    SELECT token_id, trim_scale(sum(credited))::text AS credited, trim_scale(sum(debited))::text AS debited
      FROM boundary_totals GROUP BY token_id`
  return new Map(rows.map(({ token_id: tokenId, credited, debited }) => [tokenId, { credited, debited }]))
}

interface NftEventRow {
  readonly number: number
  readonly type: NftEvent['type']
  readonly from_account_id: string | null
  readonly to_account_id: string
  readonly txn_id: string
  readonly occurred_at: Date
  readonly previous_hash: Buffer
  readonly event_hash: Buffer
  readonly payload: string
}

async function readNftEvents(sql: postgres.Sql, shardId: number, nftId: string): Promise<NftEvent[]> {
  const rows = await sql<NftEventRow[]>`
    SELECT * FROM nft_events WHERE shard_id = ${shardId} AND nft_id = ${nftId} ORDER BY number`
  return rows.map((row) => ({
    number: row.number,
    type: row.type,
    from: row.from_account_id,
    to: row.to_account_id,
    txnId: row.txn_id,
    atMs: row.occurred_at.getTime(),
    previousHash: row.previous_hash.toString('hex'),
    eventHash: row.event_hash.toString('hex'),
    payload: row.payload,
  }))
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
  const store = await createPostgresLedgerStore({ url: address.toString(), session, log, ...options })
  return {
    store,
    nodeId: options.nodeId,
    session,
    wire,
    events,
    loseNextCommit: wire.loseNextCommit,
    loseNextAnswer: () => wire.loseNextAnswer('cut'),
    holdCommits: () => holdSessionRow(sql, session, holds),
    cutOff: wire.cutClients,
    crash: wire.close,
  }
}

/** A commit counts what it decided in its session's row, after it has taken its locks: there it waits. */
async function holdSessionRow(sql: postgres.Sql, session: string, holds: Set<HeldCommits>): Promise<HeldCommits> {
  const holder = await sql.reserve()
  await holder`BEGIN`
  await holder`SELECT 1 FROM sessions WHERE session = ${session} FOR UPDATE`
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
