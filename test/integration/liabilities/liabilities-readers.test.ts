/** Several concurrent readers read one snapshot (P1) of all shards. A failure of one reader fails the run (P2). */
import { afterEach, beforeEach, expect, test } from 'vitest'
import { accountAddress } from '../../../actors/address.ts'
import { type ReaderTask, runReader, startReaderHere } from '../../../infra/liabilities/liability-readers.ts'
import { runLiabilities } from '../../../infra/liabilities/liability-run.ts'
import { AssertionUnavailable } from '../../../runtime/ports/assertion-source.ts'
import { createLiabilitiesLedger, type LiabilitiesLedger, provenBy } from './liabilities-ledger.ts'
import { FAR_SHARD } from './liabilities-rows.ts'

const MANY = { maxReaders: 3, rowsAReader: 1 }

let ledger: LiabilitiesLedger
beforeEach(async () => {
  ledger = await createLiabilitiesLedger()
  await ledger.token('GOLD', '66')
  await ledger.balance('alice', 'BASE', '10')
  await ledger.balance('bob', 'GOLD', '30')
  await ledger.balance('far-carol', 'GOLD', '20')
  await ledger.balance('far-carol', 'BASE', '1.5')
  await ledger.hold('far-carol', 'GOLD', '7')
  await ledger.message(accountAddress('far-carol'), ['GOLD', '4'])
  await ledger.message(accountAddress('bob'), ['GOLD', '2'])
  await ledger.message(accountAddress('far-dave'), ['GOLD', '3'])
  await ledger.boundary('BASE', '11.5')
})
afterEach(() => ledger.close())

test('the totals cover all shards, and each account has a proof of its balances', async () => {
  const started: ReaderTask['shards'][] = []
  const source = ledger.open({
    limits: MANY,
    run: (task) =>
      runLiabilities(task, (reader) => {
        started.push(reader.shards)
        return startReaderHere(reader)
      }),
  })
  expect(await source.liabilities()).toMatchObject({
    byToken: [
      { tokenId: 'BASE', total: '11.5' },
      { tokenId: 'GOLD', total: '66' },
    ],
  })
  expect(started).toEqual([
    { first: 0, end: 5 },
    { first: 5, end: 10 },
    { first: 10, end: 16 },
  ])
  expect(await provenBy(source, 'alice')).toEqual({ BASE: '10' })
  expect(await provenBy(source, 'bob')).toEqual({ GOLD: '32' })
  expect(await provenBy(source, 'far-carol')).toEqual({ BASE: '1.5', GOLD: '31' })
  expect(await provenBy(source, 'far-dave')).toEqual({ GOLD: '3' })
})

test('P1: a reader that starts late reads the snapshot of the others', async () => {
  const source = ledger.open({
    limits: MANY,
    run: (task) =>
      runLiabilities(task, (reader) => {
        // The totals reconcile before and after these commits: only the snapshot distinguishes them.
        const late = (async () => {
          if (reader.shards.end === FAR_SHARD + 1) {
            await ledger.balance('far-carol', 'BASE', '2.5')
            await ledger.boundary('BASE', '1')
          }
          return runReader(reader)
        })()
        return { outcome: late, end: () => undefined }
      }),
  })
  expect(await source.liabilities()).toMatchObject({ byToken: [{ total: '11.5' }, { total: '66' }] })
  expect(await provenBy(source, 'far-carol')).toMatchObject({ BASE: '1.5' })
  expect(await ledger.open().liabilities()).toMatchObject({ byToken: [{ total: '12.5' }, { total: '66' }] })
})

test.for([
  [
    'a balance with a flipped bit',
    'UPDATE balances SET document = set_bit(document, 300, 1 - get_bit(document, 300)) WHERE',
  ],
  ['an account without its data key', `DELETE FROM data_keys WHERE scope = 'account' AND`],
  ['a deleted hold', 'DELETE FROM holds WHERE'],
])('P2: the run fails if a reader finds %s', async ([, statement = '']) => {
  await ledger.sql.unsafe(`${statement} shard_id = ${FAR_SHARD}`)
  await expect(ledger.open({ limits: MANY }).liabilities()).rejects.toThrow(AssertionUnavailable)
  expect(ledger.logged).toEqual(['error liabilities_row_unreadable'])
})

test('P2: the run fails if balances are in a shard that the ledger does not have', async () => {
  await ledger.sql`UPDATE balances SET shard_id = shard_id + 100 WHERE shard_id = ${FAR_SHARD}`
  await ledger.sql`UPDATE accounts SET shard_id = shard_id + 100 WHERE shard_id = ${FAR_SHARD}`
  await expect(ledger.open({ limits: MANY }).liabilities()).rejects.toThrow(AssertionUnavailable)
  expect(ledger.logged).toEqual(['error liabilities_row_unreadable'])
})

test.for([
  ['at once', false],
  ['after its reads', true],
] as const)('P2: a reader that fails %s fails the run and ends the others', async ([, isLate]) => {
  const ended: number[] = []
  const source = ledger.open({
    limits: MANY,
    run: (task) =>
      runLiabilities(task, (reader) => {
        const running = startReaderHere(reader)
        const failed = { kind: 'failed', code: 'thread_ended' } as const
        const fails = isLate ? running.outcome.then(() => failed) : Promise.resolve(failed)
        return {
          outcome: reader.shards.first === 5 ? fails : running.outcome,
          end: () => {
            ended.push(reader.shards.first)
            running.end()
          },
        }
      }),
  })
  await expect(source.liabilities()).rejects.toThrow(AssertionUnavailable)
  expect(ledger.logged).toEqual(['warn liabilities_failed'])
  expect(new Set(ended)).toEqual(new Set([0, 5, 10]))
  await expect
    .poll(
      async () => (await ledger.sql`SELECT FROM pg_stat_activity WHERE application_name LIKE 'ledger:liab%'`).length,
    )
    .toBe(0)
})
