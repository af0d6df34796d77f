/** Goal: the simulated ledger store refuses and shows what a real one does, and shares nothing that it keeps (B1, R1, R3). */
import { describe, expect, test } from 'vitest'
import { parseQuantity } from '../../actors/money.ts'
import { addressOf } from '../../runtime/ports/ledger-store.ts'
import {
  creditAccount,
  nextTxnId,
  openAccount,
  partOf,
  partWith,
  RECEIPT,
  transactionOf,
  type Rows,
} from '../support/ledger-rows.ts'
import { eventRows, historyOf, NFT_ID } from '../support/ledger-rows-nfts.ts'
import {
  balance,
  createWorld,
  exchange,
  GROUP,
  leg,
  messages,
  NOTHING_ASKED,
  OTHER,
  SESSION,
  SHARD,
  token,
} from './sim-ledger-store-scene.ts'
import { createSimLedgerStore } from './sim-ledger-store.ts'

describe('I3: a commit that arrives twice takes effect once', () => {
  test('its second copy is refused whole, whatever has been committed in between, and is no broken write', async () => {
    const { database, kernel, store, run, own } = createWorld(1)
    const mine = await own(SHARD)
    database.faults.commitDoubled = 1
    const first = openAccount(SHARD, 'alice')
    const second = creditAccount(first.account, 'k1')
    const third = creditAccount(second.account, 'k2')
    for (const change of [first, second, third]) {
      expect(await run(store.commit({ shards: [partOf(mine, change)] }))).toMatchObject({ kind: 'answered' })
    }
    const before = database.rows.recount().assets()
    await kernel.runFor(10_000)
    expect(kernel.counted('fault:store:commit-doubled')).toBe(3)
    expect(kernel.counted('store:commit-copy-refused')).toBe(3)
    expect(database.rows.recount().assets()).toEqual(before)
    expect(database.rows.account({ shardId: SHARD, accountId: 'alice' })).toEqual(third.account)
    expect(database.brokenWrites).toEqual([])
  })

  test('one whose rows carry nothing that tells of the first is found out', async () => {
    const { database, kernel, store, run, own } = createWorld(1)
    const mine = await own(SHARD)
    database.faults.commitDoubled = 1
    await run(
      store.commit({ shards: [partWith(mine, { boundary: [{ tokenId: 'BASE', credited: '1', debited: '0' }] })] }),
    )
    await kernel.runFor(10_000)
    expect(database.brokenWrites).toEqual([`node ${SESSION}: a commit took effect twice`])
  })

  test('one of an actor that was removed in between is none: whoever passed the answer on sends nothing again', async () => {
    const { database, kernel, apply, own } = createWorld(1)
    const mine = await own(SHARD)
    database.faults.commitDoubled = 1
    await apply(mine, { actors: [exchange(GROUP, 1)] })
    database.faults.commitDoubled = 0
    await apply(mine, { actors: [{ ...exchange(GROUP, 1), previousVersion: 1, state: null }] })
    await kernel.runFor(10_000)
    expect(kernel.counted('store:commit-copy-removed')).toBe(1)
    expect(database.brokenWrites).toEqual([])
  })

  test('a session of a dead process is held until the second copy is done', async () => {
    const { database, kernel, own, store, run } = createWorld(2)
    const mine = await own(SHARD)
    database.faults.commitDoubled = 1
    await run(store.commit({ shards: [partOf(mine, openAccount(SHARD, 'alice'))] }))
    database.leave(SESSION)
    expect(database.sessionHeld(SESSION)).toBe(true)
    await kernel.runFor(10_000)
    expect(kernel.counted('fault:store:commit-doubled')).toBe(1)
    expect(database.sessionHeld(SESSION)).toBe(false)
  })

  test('what goes to and from a node that is far away takes longer, and nothing of another', async () => {
    const { database, kernel, run, store } = createWorld(1)
    database.far.set('elsewhere', 600)
    await run(store.probe())
    expect(kernel.now()).toBeLessThan(20)
    database.far.set('node', 600)
    await run(store.probe())
    expect(kernel.now()).toBeGreaterThan(100)
  })
})

describe('R1: what breaks an invariant is refused whole', () => {
  const alice = openAccount(SHARD, 'alice').account
  const pending = {
    ...transactionOf(alice, nextTxnId(SHARD), 'k1', '1', 1),
    status: 'pending',
    processedAtMs: null,
  } as const
  const final = { ...pending, status: 'completed', processedAtMs: 2 } as const
  const { txnId } = pending
  const refused: readonly (readonly [string, Partial<Rows>])[] = [
    ['a message without its counter', { outbox: messages(1, [3]).outbox ?? [] }],
    ['a message that leaves a gap', messages(1, [4])],
    ['messages with a gap between them', messages(1, [3, 5])],
    ['a message of a number that was sent', messages(1, [2, 3])],
    ['a counter ahead of its messages', { ...messages(1, [3]), sent: [{ target: 1, sent: 4 }] }],
    ['a message of another number than its counter', { ...messages(1, [4]), sent: [{ target: 1, sent: 3 }] }],
    ['a mark that stays', { marks: [{ source: 2, mark: 7 }] }],
    ['a mark that falls', { marks: [{ source: 2, mark: 6 }] }],
    ['an actor made again', { actors: [exchange(GROUP, 1)] }],
    ['an actor of another version', { actors: [{ ...exchange(GROUP, 1), previousVersion: 2 }] }],
    [
      'the end of an actor of another version',
      { actors: [{ ...exchange(GROUP, 1), previousVersion: 2, state: null }] },
    ],
    [
      'a final transaction without a receipt',
      { transactions: [{ transaction: transactionOf(alice, 'x', 'k2', '1', 1), receipt: null }] },
    ],
    [
      'a pending one with a receipt',
      { transactions: [{ transaction: { ...pending, txnId: 'x', idempotencyKey: 'k2' }, receipt: RECEIPT }] },
    ],
    [
      'an end that is none',
      { transactionChanges: [{ txnId, finished: { transaction: pending, receipt: RECEIPT }, compensatedBy: null }] },
    ],
    [
      'the end of a transaction that is not there',
      { transactionChanges: [{ txnId: 'x', finished: { transaction: final, receipt: RECEIPT }, compensatedBy: null }] },
    ],
    ['less than nothing across the boundary', { boundary: [{ tokenId: 'BASE', credited: '-1', debited: '0' }] }],
    [
      'a balance below what is reserved',
      {
        balances: [
          {
            accountId: 'alice',
            tokenId: 'BASE',
            balance: {
              balance: parseQuantity('1'),
              reserved: parseQuantity('2'),
              incoming: parseQuantity('0'),
              room: parseQuantity('0'),
              updatedAtMs: 1,
            },
          },
        ],
      },
    ],
  ]

  test.for(refused)('%s', async ([, rows]) => {
    const { database, store, run, own, apply } = createWorld(1)
    const mine = await own(SHARD)
    const other = await own(OTHER)
    const entered: Partial<Rows> = {
      transactions: [{ transaction: pending, receipt: null }],
      actors: [exchange(GROUP, 1)],
    }
    await apply(mine, partWith(mine, entered, messages(1, [1, 2]), { marks: [{ source: 2, mark: 7 }] }))
    const before = await run(store.openShard(SHARD))
    const shards = [partWith(other, messages(1, [1])), partWith(mine, rows, messages(5, [1]))]
    const batch = { shards: rows.sent === undefined ? shards : [shards[0] ?? partWith(other), partWith(mine, rows)] }
    expect(await run(store.commit(batch))).toMatchObject({ kind: 'failed', cause: 'invariant' })
    expect(await run(store.openShard(SHARD))).toEqual(before)
    expect((await run(store.openShard(OTHER))).channels).toEqual([])
    expect(database.brokenWrites).toHaveLength(1)
  })

  test('a transaction ends once and is compensated once, and keeps what its client signed', async () => {
    const { database, store, run, own, apply } = createWorld(1)
    const mine = await own(SHARD)
    await apply(mine, { transactions: [{ transaction: pending, receipt: null }] })
    const end = { transaction: { ...final, counterTxnId: 'txn_other', amount: '999' }, receipt: RECEIPT }
    await apply(mine, { transactionChanges: [{ txnId, finished: end, compensatedBy: 'txn_back' }] })
    const row = database.rows.transactionTable.row({ shardId: SHARD, txnId })
    expect(row).toEqual({
      transaction: { ...pending, status: 'completed', processedAtMs: 2, counterTxnId: 'txn_other' },
      receipt: RECEIPT,
      compensatedBy: 'txn_back',
    })
    for (const change of [
      { finished: end, compensatedBy: null },
      { finished: null, compensatedBy: 'txn_again' },
    ]) {
      const verdict = await run(
        store.commit({ shards: [partWith(mine, { transactionChanges: [{ txnId, ...change }] })] }),
      )
      expect(verdict).toMatchObject({ kind: 'failed', cause: 'invariant' })
    }
    expect(database.rows.transactionTable.row({ shardId: SHARD, txnId })).toEqual(row)
  })
})

describe('what is read is a snapshot, and nobody else has it', () => {
  test('R3: what became of a document after it was written changes nothing in the store, and one that was read cannot be changed', async () => {
    const { store, run, own, apply } = createWorld(1)
    const mine = await own(SHARD)
    const written = { ...leg('completed', '5') }
    const actor = structuredClone(token(1, 'active', '7'))
    const address = { shardId: SHARD, accountId: 'alice' }
    const homed = { shardId: SHARD, address: actor.address }
    await apply(mine, {
      ...openAccount(SHARD, 'alice').rows,
      holds: [{ accountId: 'alice', holdId: 'h', hold: written }],
      actors: [actor],
      ...messages(1, [1]),
    })
    const look = async () => {
      const found = await run(store.lookUp({ ...NOTHING_ASKED, accounts: [address], tokens: [homed] }))
      const { outbox } = await run(store.openShard(SHARD))
      return {
        hold: found.accounts.get(addressOf(address))?.holds.get('h'),
        gold: found.tokens.get('token gold'),
        outbox,
      }
    }
    const first = await look()
    const unchanged = structuredClone(first)
    const changes = { kind: 'changed', to: 'changed' }
    for (const document of [written, actor.state, first.outbox[0]?.envelope]) Object.assign(document ?? {}, changes)
    for (const read of [first.hold, first.gold]) {
      expect(() => Object.assign(read ?? {}, changes)).toThrow(TypeError)
    }
    expect(await look()).toEqual(unchanged)
    expect(unchanged.hold).toEqual(leg('completed', '5'))
  })

  test('the parts of one look-up are snapshots of their own; an account, its balances and holds are one', async () => {
    const seen = new Set<string>()
    for (let seed = 0; seed < 200; seed += 1) {
      const { kernel, store, run, own, apply } = createWorld(seed)
      const mine = await own(SHARD)
      const opened = openAccount(SHARD, 'alice')
      await apply(mine, opened.rows)
      const credit = creditAccount(opened.account, 'k1')
      const part = partWith(mine, credit.rows, {
        holds: [{ accountId: 'alice', holdId: 'h', hold: leg('expected', '1') }],
      })
      const committing = store.commit({ shards: [part] })
      await kernel.runFor(1)
      const address = { shardId: SHARD, accountId: 'alice' }
      const keys = [{ ...address, operation: 'transaction', idempotencyKey: 'k1' } as const]
      const found = await run(store.lookUp({ ...NOTHING_ASKED, accounts: [address], keys }))
      await run(committing)
      const account = found.accounts.get(addressOf(address))
      expect(account?.holds.size).toBe(account?.balances.size)
      expect(account?.version).toBe(1 + (account?.holds.size ?? 0))
      seen.add(`${account?.version} ${found.keys.size}`)
    }
    expect([...seen].sort()).toEqual(['1 0', '1 1', '2 0', '2 1'])
  })

  test('of equal due times any is first, of others the longest due', async () => {
    const orders = new Set<string>()
    for (let seed = 0; seed < 20; seed += 1) {
      const { store, run, own, apply } = createWorld(seed)
      await apply(await own(SHARD), {
        actors: [exchange('b', 20), exchange('a', 20), exchange('c', 10), exchange('d', 31)],
      })
      await apply(await own(OTHER), { actors: [exchange('e', 1)] })
      const due = await run(store.due([SHARD], 30, 10))
      orders.add(due.map(({ address }) => address.id).join(''))
      expect((await run(store.due([SHARD, OTHER], 30, 2))).map(({ dueAtMs }) => dueAtMs)).toEqual([1, 10])
    }
    expect(orders).toEqual(new Set(['cab', 'cba']))
  })

  test('loaded in the statement that acquires, a shard shows what was sent before the acquire waited', async () => {
    for (const acquireLoadsOldSnapshot of [true, false]) {
      const { kernel, database, store, run, own } = createWorld(1, { acquireLoadsOldSnapshot })
      const mine = await own(SHARD)
      const held = database.hold(SESSION)
      const credit = creditAccount(openAccount(SHARD, 'alice').account, 'k1')
      const committing = store.commit({
        shards: [partWith(mine, { transactions: credit.rows.transactions }, messages(1, [1]))],
      })
      await run(held.reached)
      const process = kernel.process('other')
      const theirs = createSimLedgerStore({ database, process, session: 'b'.repeat(32), nodeId: 'other' })
      const acquiring = theirs.acquire(SHARD, mine.epoch, mine.epoch + 1)
      await kernel.runFor(100)
      held.letGo()
      expect((await run(acquiring)).kind).toBe('owned')
      expect((await run(theirs.openShard(SHARD))).channels).toHaveLength(acquireLoadsOldSnapshot ? 0 : 1)
      await run(committing)
    }
  })
})

test('all of a fenced part is left out', async () => {
  const { database, store, run, own } = createWorld(1)
  const mine = await own(SHARD)
  await run(store.raiseAttempt(mine))
  const rows = [
    openAccount(SHARD, 'alice').rows,
    balance('1'),
    messages(1, [1]),
    {
      marks: [{ source: 2, mark: 1 }],
      actors: [token(1, 'active', '1')],
      ...eventRows(NFT_ID, ...historyOf(['alice'])),
      boundary: [{ tokenId: 'BASE', credited: '1', debited: '0' }],
    },
    { holds: [{ accountId: 'alice', holdId: 'h', hold: leg('completed', '1') }] },
  ]
  expect(await run(store.commit({ shards: [partWith(mine, ...rows)] }))).toEqual({
    kind: 'answered',
    committed: new Set(),
  })
  expect(await run(store.openShard(SHARD))).toEqual({ lastTransactionId: null, channels: [], marks: [], outbox: [] })
  expect([...database.rows.value.assets()]).toEqual([])
  expect(database.rows.allHolds()).toEqual([])
  expect(database.rows.actors.all()).toEqual([])
  expect(database.rows.nftEvents.all()).toEqual([])
})

test('R3: the histories of NFTs are told apart by shard and NFT, and nobody shares them', async () => {
  const { database, own, apply } = createWorld(1)
  const [first, second] = structuredClone(historyOf(['alice', 'bob']))
  if (first === undefined || second === undefined) throw new Error('a history has entries')
  await apply(await own(SHARD), partWith(await own(OTHER), eventRows(NFT_ID, second, first), eventRows('c/2', first)))
  const written = [
    { shardId: SHARD, nftId: NFT_ID, events: historyOf(['alice', 'bob']) },
    { shardId: SHARD, nftId: 'c/2', events: historyOf(['alice', 'bob']).slice(0, 1) },
  ]
  expect(database.rows.nftEvents.all()).toEqual(written)
  for (const event of [first, second, database.rows.nftEvents.history(SHARD, NFT_ID)[0]]) {
    Object.assign(event ?? {}, { to: 'mallory' })
  }
  expect(database.rows.nftEvents.all()).toEqual(written)
  expect(database.rows.nftEvents.history(OTHER, NFT_ID)).toEqual([])
})
