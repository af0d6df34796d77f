/** The log's store in PostgreSQL, under the contract and without a database. */
import postgres from 'postgres'
import { expect, test } from 'vitest'
import { accountLogKey, EntrySalts, logEntry } from '../../../infra/log/log-entry.ts'
import { createLogStore } from '../../../infra/log/log-store-postgres.ts'
import { LogStoreUnavailable } from '../../../runtime/ports/log-store.ts'
import { createLedgerDatabase } from '../../support/postgres/ledger-database.ts'
import { logStoreContract } from './log-store.contract.ts'
import { batchOn, type LogStoreSubject, someEntries } from './log-store-scene.ts'

const LOG_KEY = Buffer.alloc(32, 7)

async function createSubject(): Promise<LogStoreSubject> {
  const database = await createLedgerDatabase()
  const { url } = database
  const store = createLogStore({ url, logKey: LOG_KEY })
  const other = createLogStore({ url, logKey: LOG_KEY })
  const sql = postgres(url, { max: 3, onnotice: () => undefined })
  let accounts = 0
  const insert = async (connection: postgres.Sql, count: number): Promise<readonly Buffer[]> => {
    accounts += 1
    const account = `account-${accounts}`
    const rows = await connection<{ sequence: string; audit_hash: Buffer }[]>`
      INSERT INTO audit_entries (sequence, shard_id, account_id, previous_hash, audit_hash, payload)
      SELECT n, 0, ${account}, sha256('before'), sha256(convert_to(${account} || n, 'UTF8')), ''
        FROM generate_series(0, ${count - 1}::integer) n
      RETURNING sequence, audit_hash`
    const salts = new EntrySalts(accountLogKey(LOG_KEY, account))
    return rows.map(({ sequence, audit_hash: hash }) => logEntry(salts.of(Number(sequence)), hash))
  }
  return {
    store,
    other,
    commit: (count) => insert(sql, count),
    begin: async (count) => {
      const connection = await sql.reserve()
      await connection`BEGIN`
      const entries = await insert(connection, count)
      const end = async (how: 'COMMIT' | 'ROLLBACK'): Promise<void> => {
        await connection.unsafe(how)
        connection.release()
      }
      return { entries, commit: () => end('COMMIT'), rollBack: () => end('ROLLBACK') }
    },
    expireLease: async () => {
      await sql`UPDATE log_lease SET until = now() - interval '1 ms'`
    },
    pieceEntries: 20_000,
    // As after a promotion: the server is on another timeline than any that is listed.
    loseAcceptance: async () => {
      await sql`UPDATE accepted_servers SET timeline = '0000DEAD'`
    },
    close: async () => {
      await Promise.all([store.close(), other.close(), sql.end({ timeout: 0 })])
      await database.drop()
    },
  }
}

logStoreContract('PostgreSQL', createSubject)

test('LogStore: PostgreSQL: without a database every call fails with the error of the port', async () => {
  const { store, close } = await createSubject()
  const head = await store.head()
  await close()
  for (const call of [
    () => store.claim('a'),
    () => store.head(),
    () => store.since(head.position),
    () => store.append(head, batchOn(head, someEntries(1))),
    () => store.publish({ size: 1, note: 'one' }),
    () => store.published(),
    () => store.hashes(0, 0, 1),
  ]) {
    await expect(call()).rejects.toThrow(LogStoreUnavailable)
  }
})
