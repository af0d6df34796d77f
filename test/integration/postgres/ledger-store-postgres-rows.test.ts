/** The query plans and columns of the ledger store on PostgreSQL. */
import postgres from 'postgres'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { commitStatement } from '../../../infra/postgres/commit/commit-statement.ts'
import { ACCOUNTS_LOOK_UP, EXISTING_LOOK_UP } from '../../../infra/postgres/store/look-up-accounts.ts'
import { ACTORS_LOOK_UP, CLASSES_LOOK_UP, MINTED_LOOK_UP } from '../../../infra/postgres/store/look-up-actors.ts'
import {
  ACCOUNT_KEYS_LOOK_UP,
  OPERATIONS_LOOK_UP,
  SUBMISSIONS_LOOK_UP,
} from '../../../infra/postgres/store/look-up-keys.ts'
import { COMPENSABLE_LOOK_UP, GROUP_USES_LOOK_UP } from '../../../infra/postgres/store/look-up-transactions.ts'
import { ACKNOWLEDGE, PRUNE } from '../../../infra/postgres/store/outbox.ts'
import { PLAN_SETTINGS } from '../../../infra/postgres/connection/plan-settings.ts'
import { CHANNELS, DUE, LAST_TRANSACTION, MARKS, UNACKNOWLEDGED } from '../../../infra/postgres/store/shard-start.ts'
import { DATA_KEYS_LOOK_UP } from '../../../infra/vault/data-keys.ts'
import { LEDGER_KEY_NAME, shardKeyName } from '../../../infra/vault/key-name.ts'
import { chained } from '../../support/chain.ts'
import { creditAccount, openAccount, partOf, partWith, RECEIPT, SALT } from '../../support/postgres/ledger-rows.ts'
import {
  concludeTransfer,
  failTransfer,
  keepHolds,
  legHold,
  pendTransfer,
  sendRows,
} from '../../support/postgres/ledger-rows-values.ts'
import { sealingVault } from '../../support/postgres/row-vaults.ts'
import { createPostgresHarness, type PostgresHarness, until } from '../../support/postgres/ledger-store-postgres.ts'
import { only, opened, own } from './store-steps.ts'

let harness: PostgresHarness

beforeEach(async () => {
  harness = await createPostgresHarness()
})
afterEach(async () => {
  await harness.close()
})

describe('plans', () => {
  test('in a new, empty database every statement finds its rows by an index', async () => {
    const sql = postgres(harness.url, { max: 1, connection: PLAN_SETTINGS, onnotice: () => undefined })
    const plan = async (text: string): Promise<string> => {
      const rows = await sql.unsafe<{ 'QUERY PLAN': string }[]>(`EXPLAIN (GENERIC_PLAN) ${text}`)
      return rows.map((row) => row['QUERY PLAN']).join('\n')
    }
    const token = { shardId: 3, epoch: 1, attempt: 0 }
    const open = openAccount(3, 'alice')
    const whole = partWith(token, creditAccount(open.account, 'k').rows, openAccount(3, 'bob').rows)
    const lean = partOf(token, creditAccount(open.account, 'k'))
    const transfers = partWith(token, lean, sendRows(2, 2, 2))
    const vault = sealingVault([LEDGER_KEY_NAME, shardKeyName(3)])
    const made = new Map(
      ['alice', 'bob'].map((id) => [vault.accountKeyName(id), vault.keys.make(vault.accountKeyName(id))]),
    )
    const context = { session: 's', number: 1, vault, made }
    const plans = await Promise.all(
      [
        ...[whole, transfers, lean].map((part) => commitStatement({ shards: [part] }, context).text),
        ACCOUNTS_LOOK_UP,
        EXISTING_LOOK_UP,
        SUBMISSIONS_LOOK_UP,
        OPERATIONS_LOOK_UP,
        ACCOUNT_KEYS_LOOK_UP,
        ACTORS_LOOK_UP,
        CLASSES_LOOK_UP,
        MINTED_LOOK_UP,
        COMPENSABLE_LOOK_UP,
        GROUP_USES_LOOK_UP,
        LAST_TRANSACTION,
        CHANNELS,
        MARKS,
        UNACKNOWLEDGED,
        DUE,
        ACKNOWLEDGE,
        PRUNE,
        DATA_KEYS_LOOK_UP,
      ].map(plan),
    )
    await sql.end()
    const indexes = plans.map((text) =>
      [...text.matchAll(/Scan (?:Backward )?using (\w+)/g)].map((found) => found[1]).join(' '),
    )
    // Either index finds one row: the ID of an account or actor is unique among all shards.
    const account = 'accounts_(pkey|by_id)'
    const actor = 'actors_(pkey|by_id)'
    const pending = 'pending_transactions_pkey'
    expect(indexes).toEqual([
      expect.stringMatching(
        `^shards_pkey ${account} transactions_by_key ${pending} ${pending} transactions_pkey transactions_pkey holds_pkey balances_pkey data_keys_pkey ${actor} ${actor} outbox_channels_pkey$`,
      ),
      expect.stringMatching(
        `^shards_pkey ${account} transactions_by_key ${pending} ${pending} holds_pkey outbox_channels_pkey$`,
      ),
      expect.stringMatching(`^shards_pkey ${account}$`),
      // Reads all pending transactions of an account.
      expect.stringMatching(`^${account} balances_pkey holds_pkey pending_transactions_by_(key|account)$`),
      expect.stringMatching(`^${account}$`),
      'transactions_by_key pending_transactions_by_key',
      'operations_pkey',
      'account_keys_pkey',
      expect.stringMatching(`^${actor}$`),
      'actors_classes',
      expect.stringMatching(`^${actor}$`),
      `transactions_pkey ${pending}`,
      // Few transactions are pending, and few belong to one group.
      'transactions_by_group_use pending_transactions_by_group',
      `transactions_pkey ${pending}`,
      'outbox_channels_pkey outbox_acknowledgements_pkey inbox_marks_pkey',
      'inbox_marks_pkey',
      'outbox_channels_pkey outbox_acknowledgements_pkey inbox_marks_pkey outbox_pkey',
      'actors_due',
      'outbox_channels_pkey',
      'outbox_acknowledgements_pkey outbox_pkey outbox_pkey outbox_pkey',
      'data_keys_pkey',
    ])
    expect(plans.join('\n')).not.toMatch(/Seq Scan|Hash Join|Merge Join|Bitmap/)
  })
})

describe('columns', () => {
  test('a commit of a final transaction without a receipt, or of a pending one with a receipt, fails', async () => {
    const a = await harness.open()
    const token = await own(a, 3)
    const [final] = creditAccount(await opened(a, token), 'k1').rows.transactions
    if (final === undefined) throw new Error('a credit is a transaction')
    const pending = { ...final.transaction, status: 'pending', processedAtMs: null } as const
    for (const write of [
      { ...final, receipt: null },
      { ...final, transaction: pending },
    ]) {
      const verdict = await a.store.commit({ shards: [partWith(token, { transactions: [write] })] })
      expect(verdict).toMatchObject({ kind: 'failed', cause: 'invariant' })
    }
    expect(await a.store.commit({ shards: [partWith(token, { transactions: [final] })] })).toEqual(only(3))
  })

  test('probes fold the rows of external accounts into one row with the same totals', async () => {
    const a = await harness.open()
    const token = await own(a, 3)
    const lost = { shardId: 4, epoch: 9, attempt: 0 }
    const crossed = { boundary: [{ tokenId: 'BASE', credited: '1.5', debited: '0.25' }] }
    const rows = async () => (await harness.sql`SELECT number FROM boundary_crossings`).length
    for (let commit = 0; commit < 70; commit += 1) {
      expect(await a.store.commit({ shards: [partWith(token, crossed), partWith(lost, crossed)] })).toEqual(only(3))
    }
    expect(await rows()).toBe(70)
    const totals = new Map([['BASE', { credited: '105', debited: '17.5' }]])
    expect(await harness.boundaryTotals()).toEqual(totals)
    await a.store.probe()
    await until(async () => (await rows()) === 1)
    expect(await harness.boundaryTotals()).toEqual(totals)
    for (let commit = 0; commit < 70; commit += 1) {
      await a.store.commit({ shards: [partWith(token, crossed)] })
    }
    await a.store.probe()
    await until(async () => (await rows()) === 1)
    expect(await harness.boundaryTotals()).toEqual(new Map([['BASE', { credited: '210', debited: '35' }]]))
  })

  async function storedOf(txnId: string) {
    const { sql } = harness
    const [stored] = await sql`
      SELECT (SELECT count(*)::integer FROM holds WHERE hold_id = ${txnId}) AS holds,
             (SELECT is_hold FROM pending_transactions WHERE txn_id = ${txnId}) AS is_hold,
             (SELECT status FROM transactions WHERE txn_id = ${txnId}) AS ended,
             (SELECT count(*)::integer FROM commits WHERE ${txnId} = ANY(final || pending)) AS log_entered,
             (SELECT count(*)::integer FROM commits WHERE ${txnId} = ANY(commits.ended)) AS log_ended`
    return { ...stored }
  }

  test('a pending transaction is its own hold until it ends; the commit log names its entry and its end once each', async () => {
    const a = await harness.open()
    const token = await own(a, 3)
    const funded = creditAccount(await opened(a, token), 'k', '9')
    const atOnce = funded.rows.transactions[0]?.transaction.txnId ?? ''
    expect(await a.store.commit({ shards: [partOf(token, funded)] })).toEqual(only(3))
    expect(await storedOf(atOnce)).toEqual({
      holds: 0,
      is_hold: null,
      ended: 'completed',
      log_entered: 1,
      log_ended: 0,
    })
    const [first, ends] = [pendTransfer(funded.account, 'first'), [concludeTransfer, failTransfer] as const]
    let before = first
    for (const [index, end] of ends.entries()) {
      const txnId = before.rows.transactions[0]?.transaction.txnId ?? ''
      expect(await a.store.commit({ shards: [partOf(token, before)] })).toEqual(only(3))
      expect(await storedOf(txnId)).toEqual({ holds: 0, is_hold: true, ended: null, log_entered: 1, log_ended: 0 })
      const ended = end(before.account, txnId)
      expect(await a.store.commit({ shards: [partOf(token, ended)] })).toEqual(only(3))
      const { status } = ended.record
      expect(await storedOf(txnId)).toEqual({ holds: 0, is_hold: null, ended: status, log_entered: 1, log_ended: 1 })
      before = pendTransfer(ended.account, `next ${index}`)
    }
    const [row] = await harness.sql`
      SELECT bool_and(entered_xid < ended_xid) AS later FROM transactions WHERE txn_id <> ${atOnce}`
    expect(row).toEqual({ later: true })
    const named = await harness.sql`
      SELECT c.commit_xid = t.entered_xid AS as_entered FROM transactions t JOIN commits c ON t.txn_id = ANY(c.final || c.pending)
       UNION SELECT c.commit_xid = t.ended_xid FROM transactions t JOIN commits c ON t.txn_id = ANY(c.ended)`
    expect(named.map((one) => ({ ...one }))).toEqual([{ as_entered: true }])
  })

  test('only a compensation changes the row of a final transaction', async () => {
    const a = await harness.open()
    const token = await own(a, 3)
    const first = pendTransfer(await opened(a, token), 'first')
    const txnId = first.rows.transactions[0]?.transaction.txnId ?? ''
    expect(await a.store.commit({ shards: [partOf(token, first)] })).toEqual(only(3))
    const concluded = concludeTransfer(first.account, txnId)
    expect(await a.store.commit({ shards: [partOf(token, concluded)] })).toEqual(only(3))
    const credited = creditAccount(concluded.account, 'k')
    expect(await a.store.commit({ shards: [partOf(token, credited)] })).toEqual(only(3))
    // The number of the commit that wrote this version of the row.
    const versions = () => harness.sql<{ txn_id: string; inserted: boolean; compensated_by: string | null }[]>`
      SELECT txn_id, xmin::text::bigint = ended_xid::text::bigint & 4294967295 AS inserted, compensated_by
        FROM transactions ORDER BY txn_id = ${txnId} DESC`
    const isAsInserted = async () => (await versions()).map(({ inserted, compensated_by: by }) => [inserted, by])
    expect(await isAsInserted()).toEqual([
      [true, null],
      [true, null],
    ])
    const compensated = { transactionChanges: [{ txnId, finished: null, compensatedBy: 'txn_back' }] }
    expect(await a.store.commit({ shards: [partWith(token, compensated)] })).toEqual(only(3))
    expect(await isAsInserted()).toEqual([
      [false, 'txn_back'],
      [true, null],
    ])
  })

  test('the hold of a leg with a pending transaction is stored with the leg, not with the transaction', async () => {
    const a = await harness.open()
    const token = await own(a, 3)
    const before = await opened(a, token)
    const { transactions } = pendTransfer(before, 'leg').rows
    const [write] = transactions
    if (write === undefined) throw new Error('a transfer is a transaction')
    const { txnId } = write.transaction
    const holding = keepHolds(before, legHold({ state: 'holding', txnId, transaction: write.transaction }))
    expect(await a.store.commit({ shards: [partWith(token, holding.rows, { transactions })] })).toEqual(only(3))
    expect(await storedOf(txnId)).toMatchObject({ holds: 0, is_hold: false, ended: null })
    expect((await harness.sql`SELECT FROM holds`).length).toBe(1)
    const completed = keepHolds(holding.account, legHold({ state: 'completed', txnId }))
    const { transaction } = chained(completed.account, write.transaction, 1, SALT)
    const ends = { transactionChanges: [{ txnId, finished: { transaction, receipt: RECEIPT }, compensatedBy: null }] }
    expect(await a.store.commit({ shards: [partWith(token, completed.rows, ends)] })).toEqual(only(3))
    expect(await storedOf(txnId)).toMatchObject({ is_hold: null, ended: 'completed' })
    expect((await harness.sql`SELECT FROM holds`).length).toBe(1)
  })
})
