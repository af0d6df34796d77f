/** Properties of the ledger store that only the one on PostgreSQL has. The contract has those of every store. */
import { randomBytes } from 'node:crypto'
import postgres from 'postgres'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { readDurability } from '../../../infra/postgres/store/durability.ts'
import { sessionLockKey } from '../../../infra/postgres/store/sessions.ts'
import { createPostgresLedgerStore } from '../../../infra/postgres/store/ledger-store-postgres.ts'
import { countedRows } from '../../../infra/postgres/rows/shard-counts.ts'
import { LedgerStoreUnavailable, type ShardToken } from '../../../runtime/ports/ledger-store.ts'
import { createLedgerDatabase } from '../../support/postgres/ledger-database.ts'
import { creditAccount, failAccount, partOf, partWith, questionOf } from '../../support/postgres/ledger-rows.ts'
import { concludeTransfer, failTransfer, pendTransfer } from '../../support/postgres/ledger-rows-values.ts'
import { sealingVault } from '../../support/postgres/row-vaults.ts'
import {
  createPostgresHarness,
  type PostgresHarness,
  SILENT,
  until,
} from '../../support/postgres/ledger-store-postgres.ts'
import { only, opened, own } from './store-steps.ts'

let harness: PostgresHarness

beforeEach(async () => {
  harness = await createPostgresHarness()
})
afterEach(async () => {
  await harness.close()
})

/** The server process that executes a store's commits. */
async function committingPid(session: string): Promise<number | undefined> {
  const [row] = await harness.sql<{ pid: number }[]>`
    SELECT l.pid FROM pg_locks l JOIN pg_stat_activity a ON a.pid = l.pid
     WHERE l.locktype = 'advisory' AND right(a.application_name, 32) = ${session}`
  return row?.pid
}

describe('the outcome of a commit', () => {
  test('L2: a commit that times out is unknown, and its server process ends before the next commit', async () => {
    const a = await harness.open({ commitTimeoutMs: 3_000 })
    const token = await own(a, 3)
    const alice = await opened(a, token)
    const before = await committingPid(a.session)
    expect(before).toBeDefined()
    const held = await a.holdCommits()
    const verdict = a.store.commit({ shards: [partOf(token, creditAccount(alice, 'k1'))] })
    await held.reached()
    expect(await verdict).toEqual({ kind: 'unknown', detail: 'no answer within 3000 ms' })
    await until(async () => (await a.store.commit({ shards: [partOf(token)] })).kind === 'answered')
    const left = await harness.sql`SELECT 1 FROM pg_stat_activity WHERE pid = ${before ?? 0}`
    expect(left).toHaveLength(0)
    expect(await committingPid(a.session)).not.toBe(before)
    await held.letGo()
    expect((await a.store.lookUp(questionOf({ accounts: [alice] }))).accounts.get('3 alice')).toEqual(alice)
  })

  test('a commit whose reply is lost is unknown although it was applied', async () => {
    const a = await harness.open({ commitTimeoutMs: 3_000 })
    const token = await own(a, 3)
    const credit = creditAccount(await opened(a, token), 'k1')
    a.wire.loseNextAnswer('silence')
    expect(await a.store.commit({ shards: [partOf(token, credit)] })).toMatchObject({ kind: 'unknown' })
    expect(a.wire.lost()).toBe(1)
    expect(await a.store.raiseAttempt(token)).toBe(true)
    const { accounts } = await a.store.lookUp(questionOf({ accounts: [credit.account] }))
    expect(accounts.get('3 alice')).toEqual(credit.account)
  })

  /** Makes every insert of a transaction raise a warning. */
  const warnOnInsert = (warning: string): Promise<unknown> =>
    harness.sql.unsafe(`
      CREATE FUNCTION warn() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE WARNING ${warning}; RETURN NULL; END $$;
      CREATE TRIGGER warn AFTER INSERT ON transactions EXECUTE FUNCTION warn()`)

  test('an unrelated warning is logged once, and the commits count as applied', async () => {
    const a = await harness.open()
    const token = await own(a, 3)
    const alice = await opened(a, token)
    await warnOnInsert(`'vacuum soon'`)
    const first = creditAccount(alice, 'k1')
    for (const change of [first, creditAccount(first.account, 'k2')]) {
      expect(await a.store.commit({ shards: [partOf(token, change)] })).toMatchObject({ kind: 'answered' })
    }
    expect(a.events.filter((event) => event === 'commit_warned')).toHaveLength(1)
    expect(a.events).not.toContain('commit_unknown')
  })

  test('a warning about the outcome of the transaction makes the commit unknown', async () => {
    const a = await harness.open()
    const token = await own(a, 3)
    const alice = await opened(a, token)
    await warnOnInsert(`'ended' USING ERRCODE = '57P01'`)
    const credit = creditAccount(alice, 'k1')
    expect(await a.store.commit({ shards: [partOf(token, credit)] })).toEqual({
      kind: 'unknown',
      detail: 'answered with a warning',
    })
    expect(a.events).toContain('commit_unknown')
  })

  test('L1: a commit is not sent while another is in flight, or without a connection', async () => {
    const a = await harness.open()
    const token = await own(a, 3)
    const alice = await opened(a, token)
    const held = await a.holdCommits()
    const first = a.store.commit({ shards: [partOf(token, creditAccount(alice, 'k1'))] })
    expect(await a.store.commit({ shards: [partOf(token)] })).toMatchObject({ kind: 'failed', cause: 'unsent' })
    await held.letGo()
    expect(await first).toEqual(only(3))
    await a.wire.close()
    await until(() => a.events.includes('commit_connection_refused'))
    const sinceMs = performance.now()
    expect(await a.store.commit({ shards: [partOf(token)] })).toMatchObject({ kind: 'failed', cause: 'unsent' })
    expect(performance.now() - sinceMs).toBeGreaterThan(500)
  })

  test('L1: a commit waits for the connection that is being opened', async () => {
    const a = await harness.open()
    const token = await own(a, 3)
    const pid = (await committingPid(a.session)) ?? 0
    const lockKey = String(sessionLockKey(a.session))
    const holder = await harness.sql.reserve()
    try {
      const locked = holder`SELECT pg_advisory_lock(${lockKey}::bigint)`.execute()
      await until(async () => (await harness.sql`SELECT 1 FROM pg_locks WHERE NOT granted`).length > 0)
      await harness.sql`SELECT pg_terminate_backend(${pid}::integer)`
      await locked
      await until(() => a.events.includes('commit_connection_refused'))
      const verdict = a.store.commit({ shards: [partOf(token)] })
      await holder`SELECT pg_advisory_unlock(${lockKey}::bigint)`
      expect(await verdict).toEqual(only(3))
    } finally {
      holder.release()
    }
  })

  test('F1: a commit skips a locked shard at once and applies the others', async () => {
    const a = await harness.open()
    const [busy, free] = [await own(a, 3), await own(a, 4)]
    const alice = await opened(a, busy)
    const bob = await opened(a, free, 'bob')
    const other = await harness.sql.reserve()
    await other`BEGIN`
    await other`SELECT 1 FROM shards WHERE shard_id = 3 FOR UPDATE`
    const parts = [partOf(busy, creditAccount(alice, 'k1')), partOf(free, creditAccount(bob, 'k1'))]
    expect(await a.store.commit({ shards: parts })).toEqual(only(4))
    await other`ROLLBACK`
    other.release()
    expect(await a.store.commit({ shards: parts.slice(0, 1) })).toEqual(only(3))
  })

  test('transactions are counted once and only for committed shards, also beside concurrent probes', async () => {
    const a = await harness.open()
    const token = await own(a, 3)
    const foreign: ShardToken = { shardId: 4, epoch: 9, attempt: 0 }
    let alice = await opened(a, token)
    const bob = await opened(a, await own(a, 4), 'bob')
    const rounds = 60
    for (let round = 0; round < rounds; round += 1) {
      const credit = creditAccount(alice, `credit ${round}`)
      const fenced = creditAccount(bob, `credit ${round}`)
      const probes = round % 3 === 0 ? [a.store.probe(), a.store.probe()] : []
      expect(await a.store.commit({ shards: [partOf(token, credit), partOf(foreign, fenced)] })).toEqual(only(3))
      await Promise.all(probes)
      alice = credit.account
    }
    const pending = pendTransfer(alice, 'transfer')
    const refused = pendTransfer(pending.account, 'refused')
    const [ends, fails] = [pending, refused].map(({ rows }) => rows.transactions[0]?.transaction.txnId ?? '')
    const concluded = concludeTransfer(refused.account, ends ?? '')
    const failed = failTransfer(concluded.account, fails ?? '')
    for (const change of [pending, refused, concluded, failed]) {
      const fenced = partWith(foreign, { transactionChanges: change.rows.transactionChanges })
      expect(await a.store.commit({ shards: [partOf(token, change), fenced] })).toEqual(only(3))
    }
    expect(await a.store.commit({ shards: [partOf(token, failAccount(failed.account, 'debit'))] })).toEqual(only(3))
    const counts = await harness.sql<{ shard_id: number; completed: string; failed: string }[]>`
      SELECT shard_id, sum(completed) AS completed, sum(failed) AS failed FROM ${countedRows(harness.sql)} counted
       GROUP BY shard_id`
    expect([...counts]).toEqual([{ shard_id: 3, completed: String(rounds + 1), failed: '2' }])
  })
})

describe('a look-up without a reply', () => {
  test('K5: delays no other read of its node', async () => {
    const a = await harness.open({ callTimeoutMs: 60_000 })
    const token = await own(a, 3)
    const alice = await opened(a, token)
    let answered = 0
    let looked: Promise<unknown> = Promise.resolve()
    await harness.sql.begin(async (sql) => {
      await sql`LOCK TABLE accounts IN ACCESS EXCLUSIVE MODE`
      // The maximum: one look-up for all shards, and a separate one.
      const hung = [1, 2].map(async () => {
        await a.store.lookUp(questionOf({ accounts: [alice] }))
        answered += 1
      })
      looked = Promise.all(hung)
      for (let read = 0; read < 8; read += 1) expect(await a.store.shards()).not.toEqual([])
      expect(answered).toBe(0)
    })
    await looked
    expect(answered).toBe(2)
  })
})

describe('the identity of the database and the session', () => {
  test('N1: another ledger at the same address stops the store permanently', async () => {
    const reasons: string[] = []
    const a = await harness.open({ onStopped: (reason) => reasons.push(reason) })
    const token = await own(a, 3)
    const [{ ledger_id: ledgerId } = { ledger_id: '' }] = await harness.sql<{ ledger_id: string }[]>`
      SELECT ledger_id FROM ledger`
    await harness.sql`UPDATE ledger SET ledger_id = 'another'`
    a.wire.cut()
    await until(() => a.events.includes('postgres_refused'))
    await harness.sql`UPDATE ledger SET ledger_id = ${ledgerId}`
    expect(await a.store.commit({ shards: [partOf(token)] })).toMatchObject({ kind: 'unknown' })
    await expect(a.store.shards()).rejects.toThrow(/ledgerId was .* and is another/)
    await expect(a.store.probe()).rejects.toBeInstanceOf(LedgerStoreUnavailable)
    expect(reasons).toEqual([expect.stringMatching(/ledgerId was .* and is another/)])
  })

  test('a start with another ledger than the expected one, or with an empty database, is refused', async () => {
    await expect(harness.open({ ledgerId: 'another' })).rejects.toBeInstanceOf(LedgerStoreUnavailable)
    const empty = await createLedgerDatabase({ migrated: false })
    const session = randomBytes(16).toString('hex')
    const vault = sealingVault([])
    const opening = createPostgresLedgerStore({ url: empty.url, nodeId: 'n', session, log: SILENT, vault })
    await expect(opening).rejects.toBeInstanceOf(LedgerStoreUnavailable)
    await empty.drop()
  })

  test('a start with the session of a running store is refused', async () => {
    const a = await harness.open()
    await expect(harness.open({ session: a.session })).rejects.toThrow('another connection holds the session lock')
    const token = await own(a, 3)
    expect(await a.store.commit({ shards: [partOf(token)] })).toEqual(only(3))
  })

  test('a session is terminated by its ID, also if the name of its node is long and not ASCII', async () => {
    const a = await harness.open({ nodeId: `näme:${'x'.repeat(80)}:${'0'.repeat(32)}` })
    const b = await harness.open()
    const pid = await committingPid(a.session)
    const others = await committingPid(b.session)
    expect(pid).toBeDefined()
    await b.store.terminate(a.session)
    const left = await harness.sql`SELECT 1 FROM pg_stat_activity WHERE pid = ${pid ?? 0}`
    expect(left).toHaveLength(0)
    expect(await committingPid(b.session)).toBe(others)
  })

  test('without PostgreSQL every call fails with the error of the port', async () => {
    const a = await harness.open({ callTimeoutMs: 1_000 })
    const token = await own(a, 3)
    await a.wire.close()
    const calls = [
      () => a.store.shards(),
      () => a.store.acquire(5, 0, 1),
      () => a.store.release(token),
      () => a.store.raiseAttempt(token),
      () => a.store.lookUp(questionOf({ accounts: [{ shardId: 3, accountId: 'alice' }] })),
      () => a.store.openShard(3),
      () => a.store.due([3], 0, 1),
      () => a.store.acknowledge([{ shardId: 3, target: 4, acknowledged: 1 }]),
      () => a.store.prune([3], 0, 1),
      () => a.store.sessionHeld(a.session),
      () => a.store.terminate('0'.repeat(32)),
      () => a.store.probe(),
    ]
    for (const call of calls) await expect(call()).rejects.toBeInstanceOf(LedgerStoreUnavailable)
  })
})

describe('durability of acknowledged commits', () => {
  /** Changes a setting for all databases of the server during `work`. */
  async function withServerSetting(name: string, value: string, work: () => Promise<void>): Promise<void> {
    const shows = async (wanted: (shown: string) => boolean): Promise<boolean> => {
      const sql = postgres(harness.url, { max: 1, onnotice: () => undefined })
      const [row] = await sql.unsafe<{ shown: string }[]>(`SELECT current_setting('${name}') AS shown`)
      await sql.end()
      return wanted(row?.shown ?? '')
    }
    await harness.sql.unsafe(`ALTER SYSTEM SET ${name} = '${value}'`)
    await harness.sql`SELECT pg_reload_conf()`
    try {
      await until(() => shows((shown) => shown === value))
      await work()
    } finally {
      await harness.sql.unsafe(`ALTER SYSTEM RESET ${name}`)
      await harness.sql`SELECT pg_reload_conf()`
      await until(() => shows((shown) => shown !== value))
    }
  }

  test('W1: synchronous_commit = off is refused at start and at each new connection', async () => {
    const a = await harness.open()
    const name = new URL(harness.url).pathname.slice(1)
    await harness.sql.unsafe(`ALTER DATABASE ${name} SET synchronous_commit = off`)
    await expect(harness.open()).rejects.toThrow(/synchronous_commit = off/)
    await expect(harness.open()).rejects.toBeInstanceOf(LedgerStoreUnavailable)
    a.wire.cut()
    await until(() => a.events.includes('postgres_refused'))
    await expect(a.store.shards()).rejects.toBeInstanceOf(LedgerStoreUnavailable)
    await harness.sql.unsafe(`ALTER DATABASE ${name} RESET synchronous_commit`)
    await until(() => a.events.includes('commit_connection_open'))
    const token = await own(a, 3)
    expect(await a.store.commit({ shards: [partOf(token)] })).toEqual(only(3))
  })

  test('W3: commits set synchronous_commit in their session, so that a later change of the server has no effect', async () => {
    const a = await harness.open()
    const token = await own(a, 3)
    await harness.sql.unsafe(`
      CREATE TABLE seen (setting text, source text);
      CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        INSERT INTO seen SELECT setting, source FROM pg_settings WHERE name = 'synchronous_commit';
        RETURN NULL; END $$;
      CREATE TRIGGER note AFTER INSERT ON accounts EXECUTE FUNCTION note()`)
    await opened(a, token)
    const seen = await harness.sql`SELECT setting, source FROM seen`
    expect([...seen]).toEqual([{ setting: 'on', source: 'session' }])
  })

  test('W1: the store reads the settings of fsync and of standbys from the server', async () => {
    const sound = { fsync: 'on', synchronousCommit: 'on', standbyNames: '', standbys: 0 }
    expect(await readDurability(harness.sql)).toEqual(sound)
    await withServerSetting('synchronous_standby_names', 'ANY 1 (a, b)', async () => {
      expect(await readDurability(harness.sql)).toEqual({ ...sound, standbyNames: 'ANY 1 (a, b)' })
    })
  })

  test('W2: in production an asynchronous standby is refused, and a running backup is accepted', async () => {
    const replicating = async (name: string) => {
      const walSender = { replication: 'database', application_name: name }
      const sql = postgres(harness.url, { max: 1, fetch_types: false, connection: walSender })
      await sql.unsafe('IDENTIFY_SYSTEM').simple()
      return sql
    }
    const backup = await replicating('pg_basebackup')
    await harness.open({ production: true })
    await backup.end()
    const standby = await replicating('b')
    await expect(harness.open({ production: true })).rejects.toThrow(/synchronous_standby_names/)
    await harness.open({ production: false })
    await standby.end()
    await until(async () => (await harness.sql`SELECT 1 FROM pg_stat_replication`).length === 0)
    await harness.open({ production: true })
  })
})
