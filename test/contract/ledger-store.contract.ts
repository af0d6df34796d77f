/**
 * What every ledger store must keep (D1-D5 of the port), as a suite over a harness: the real one and the simulated one
 * are held by it alike. Nothing here knows a product; what the store holds is seen through the port alone.
 */
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import {
  type AccountAddress,
  addressOf,
  type CommitVerdict,
  keyAddressOf,
  type LedgerStore,
  type LookUpAnswer,
  type ShardBatch,
  type ShardToken,
} from '../../runtime/ports/ledger-store.ts'
import type { AccountState } from '../../actors/account/state.ts'
import {
  baseBalanceOf,
  type Change,
  creditAccount,
  failAccount,
  openAccount,
  partOf,
  rotateAccount,
} from '../support/ledger-rows.ts'
import { stealAndCommit } from './ledger-store-stealing.ts'

export interface LedgerStoreHarness {
  /** Of the ledger that the stores share; at least 8. Nothing is in it and nobody owns a shard. */
  readonly shardCount: number
  /** A store of a new session on the same database. */
  readonly open: () => Promise<SessionUnderTest>
  /** Lets time pass until the work is done: a virtual clock has to be driven. */
  readonly run: <T>(work: Promise<T>) => Promise<T>
  /** Lets this much time pass, and whatever falls due in it happen. */
  readonly passTime: (durationMs: number) => Promise<void>
  readonly close: () => Promise<void>
}

export interface SessionUnderTest {
  readonly store: LedgerStore
  readonly nodeId: string
  readonly session: string
  /** The next commit never arrives. */
  readonly loseNextCommit: () => void
  /** The next commit takes effect, and nobody hears of it. */
  readonly loseNextAnswer: () => void
  /** From now on commits with transactions take their locks and go no further, until they are let go. */
  readonly holdCommits: () => Promise<HeldCommits>
  /** The connections are gone, commits in flight included; the server may not have noticed. The store may open others. */
  readonly cutOff: () => void
  /** The process is gone, and its connections with it. */
  readonly crash: () => Promise<void>
}

export interface HeldCommits {
  /** Resolves once a commit is held: it has its locks. */
  readonly reached: () => Promise<void>
  readonly letGo: () => Promise<void>
}

const DEADLINE_MS = 30_000
const POLL_MS = 20

export function ledgerStoreContract(name: string, makeHarness: () => Promise<LedgerStoreHarness>): void {
  describe(`${name} keeps the contract of a ledger store`, () => {
    let harness: LedgerStoreHarness
    let a: SessionUnderTest
    let b: SessionUnderTest

    beforeEach(async () => {
      harness = await makeHarness()
      a = await harness.open()
      b = await harness.open()
    })
    afterEach(async () => {
      await harness.close()
    })

    const run = <T>(work: Promise<T>): Promise<T> => harness.run(work)

    async function until(holds: () => Promise<boolean>): Promise<void> {
      for (let waitedMs = 0; waitedMs < DEADLINE_MS; waitedMs += POLL_MS) {
        if (await holds()) return
        await harness.passTime(POLL_MS)
      }
      throw new Error('the condition did not come true in time')
    }

    async function own({ store }: SessionUnderTest, shardId: number, seen = 0, next = seen + 1): Promise<ShardToken> {
      const result = await run(store.acquire(shardId, seen, next))
      if (result.kind !== 'owned') throw new Error(`shard ${shardId} was not acquired: ${result.kind}`)
      return result.token
    }

    const commit = ({ store }: SessionUnderTest, ...shards: ShardBatch[]): Promise<CommitVerdict> =>
      run(store.commit({ shards }))

    async function apply(session: SessionUnderTest, ...shards: ShardBatch[]): Promise<void> {
      expect(await commit(session, ...shards)).toEqual(committed(...shards.map((part) => part.token.shardId)))
    }

    const look = ({ store }: SessionUnderTest, ...accounts: AccountAddress[]): Promise<LookUpAnswer> =>
      run(store.lookUp({ accounts, keys: [] }))

    async function stateOf(session: SessionUnderTest, address: AccountAddress): Promise<AccountState | undefined> {
      return (await look(session, address)).accounts.get(addressOf(address))
    }

    /** An account opened in an owned shard. */
    async function opened(session: SessionUnderTest, token: ShardToken, accountId = 'alice'): Promise<AccountState> {
      const change = openAccount(token.shardId, accountId)
      await apply(session, partOf(token, change))
      return change.account
    }

    /** Commits take what `session` has; one that is not open, or whose outcome is unknown, is followed by another. */
    async function committing(session: SessionUnderTest, part: ShardBatch): Promise<void> {
      await until(async () => (await commit(session, part)).kind === 'answered')
    }

    describe('ownership', () => {
      test('a new ledger has all its shards, owned by nobody', async () => {
        const shards = await run(a.store.shards())
        expect(shards).toEqual(
          Array.from({ length: harness.shardCount }, (_, shardId) => ({
            shardId,
            epoch: 0,
            attempt: 0,
            nodeId: null,
            session: null,
          })),
        )
      })

      test('an acquired shard names its owner and its new epoch', async () => {
        expect(await run(a.store.acquire(3, 0, 7))).toEqual({
          kind: 'owned',
          token: { shardId: 3, epoch: 7, attempt: 0 },
        })
        expect((await run(b.store.shards()))[3]).toEqual({
          shardId: 3,
          epoch: 7,
          attempt: 0,
          nodeId: a.nodeId,
          session: a.session,
        })
      })

      test('of those who saw the same epoch one acquires and the others lose', async () => {
        const results = await run(Promise.all([a.store.acquire(3, 0, 1), b.store.acquire(3, 0, 1)]))
        expect(results.map((result) => result.kind).toSorted()).toEqual(['lost', 'owned'])
      })

      test('a released shard has a higher epoch and no owner, and its token is worth nothing', async () => {
        const token = await own(a, 3)
        expect(await run(b.store.release(token))).toBe(false)
        expect(await run(a.store.release(token))).toBe(true)
        expect(await run(a.store.release(token))).toBe(false)
        const [, , , released] = await run(a.store.shards())
        expect(released).toMatchObject({ nodeId: null, session: null })
        expect(released?.epoch).toBeGreaterThan(token.epoch)
        expect(await commit(a, partOf(token))).toEqual(committed())
      })

      test('an attempt is raised by the owner alone, from the attempt it has', async () => {
        const token = await own(a, 3)
        expect(await run(b.store.raiseAttempt(token))).toBe(false)
        expect(await run(a.store.raiseAttempt(token))).toBe(true)
        expect(await run(a.store.raiseAttempt(token))).toBe(false)
        expect((await run(a.store.shards()))[3]).toMatchObject({ epoch: token.epoch, attempt: token.attempt + 1 })
      })

      test('a probe shows a clock that does not go back', async () => {
        const first = await run(a.store.probe())
        const second = await run(b.store.probe())
        expect(first.nowMs).toBeGreaterThan(1_000_000_000_000)
        expect(second.nowMs).toBeGreaterThanOrEqual(first.nowMs)
      })
    })

    describe('rows', () => {
      test('what was committed is what a look-up shows, field by field', async () => {
        const token = await own(a, 3)
        const open = openAccount(3, 'alice')
        await apply(a, partOf(token, open))
        expect(await stateOf(b, open.account)).toEqual(open.account)
        const credit = creditAccount(open.account, 'credit "1"')
        await apply(a, partOf(token, credit))
        const failed = failAccount(credit.account, 'debit \\1')
        await apply(a, partOf(token, failed))
        const rotated = rotateAccount(failed.account, 'rotation {1}')
        await apply(a, partOf(token, rotated))
        expect(await stateOf(b, open.account)).toEqual(rotated.account)
      })

      test('everything about one account may be in one batch, a new account included', async () => {
        const token = await own(a, 3)
        const open = openAccount(3, 'alice')
        const bob = openAccount(3, 'bob')
        await apply(a, partOf(token, open, bob))
        const credit = creditAccount(open.account, 'k1')
        const carol = openAccount(3, 'carol')
        await apply(a, partOf(token, credit, rotateAccount(bob.account, 'r1'), carol))
        const { accounts } = await look(a, open.account, bob.account, carol.account)
        expect([...accounts.values()].map((account) => account.version).toSorted()).toEqual([1, 2, 2])
      })

      test('what does not exist is not in the answer', async () => {
        const token = await own(a, 3)
        const alice = await opened(a, token)
        const answer = await run(
          a.store.lookUp({
            accounts: [
              { shardId: 3, accountId: 'nobody' },
              { shardId: 4, accountId: alice.accountId },
            ],
            keys: [{ shardId: 3, accountId: alice.accountId, operation: 'transaction', idempotencyKey: 'unused' }],
          }),
        )
        expect(answer.accounts.size).toBe(0)
        expect(answer.keys.size).toBe(0)
      })

      test('a used key shows what it did, and under which key it was signed, also after a rotation', async () => {
        const token = await own(a, 3)
        const alice = await opened(a, token)
        const credit = creditAccount(alice, 'same')
        await apply(a, partOf(token, credit))
        const rotated = rotateAccount(credit.account, 'same')
        await apply(a, partOf(token, rotated))
        const key = { shardId: 3, accountId: alice.accountId, idempotencyKey: 'same' }
        const asTransaction = { ...key, operation: 'transaction' } as const
        const asRotation = { ...key, operation: 'key_rotation' } as const
        const { keys } = await run(b.store.lookUp({ accounts: [], keys: [asTransaction, asRotation] }))
        const [write] = credit.rows.transactions
        const [operation] = rotated.rows.operations
        expect(keys.get(keyAddressOf(asTransaction))).toEqual({
          payloadHash: write?.transaction.payloadHash,
          key: alice.key,
          answer: {
            kind: 'accepted',
            receipt: {
              txnId: write?.transaction.txnId,
              accountId: alice.accountId,
              shardId: 3,
              enqueuedAtMs: write?.transaction.createdAtMs,
              groupId: null,
            },
            replayed: false,
            mismatch: false,
          },
        })
        expect(keys.get(keyAddressOf(asRotation))).toEqual({
          payloadHash: operation?.payloadHash,
          key: alice.key,
          answer: { kind: 'rotated', account: operation?.answer, replayed: false, mismatch: false },
        })
      })

      test('the last transaction ID of a shard is the largest that was committed in it', async () => {
        const token = await own(a, 3)
        const other = await own(a, 4)
        expect(await run(a.store.lastTransactionId(3))).toBeNull()
        const alice = await opened(a, token)
        const bob = await opened(a, other, 'bob')
        const first = creditAccount(alice, 'k1')
        const second = creditAccount(first.account, 'k2')
        const elsewhere = creditAccount(bob, 'k1')
        await apply(a, partOf(token, first), partOf(other, elsewhere))
        await apply(a, partOf(token, second))
        expect(await run(b.store.lastTransactionId(3))).toBe(second.rows.transactions[0]?.transaction.txnId)
      })
    })

    describe('D1: a part is applied under its own token or not at all', () => {
      test('D1: the part of a shard that was stolen is skipped whole, the others are applied', async () => {
        const kept = await own(a, 3)
        const stolen = await own(a, 4)
        const alice = await opened(a, kept)
        const bob = await opened(a, stolen, 'bob')
        const theirs = await own(b, 4, stolen.epoch)
        const verdict = await commit(
          a,
          partOf(kept, creditAccount(alice, 'k1')),
          partOf(stolen, creditAccount(bob, 'k1'), openAccount(4, 'carol')),
        )
        expect(verdict).toEqual(committed(3))
        expect(baseBalanceOf(await stateOf(b, alice))).toBe('1.5')
        expect(await stateOf(b, bob)).toEqual(bob)
        expect(await stateOf(b, { shardId: 4, accountId: 'carol' })).toBeUndefined()
        const key = { shardId: 4, accountId: 'bob', operation: 'transaction', idempotencyKey: 'k1' } as const
        expect((await run(b.store.lookUp({ accounts: [], keys: [key] }))).keys.size).toBe(0)
        await apply(b, partOf(theirs, creditAccount(bob, 'k1')))
      })

      test('D1: a raised attempt fences what was computed under the one before', async () => {
        const token = await own(a, 3)
        const alice = await opened(a, token)
        expect(await run(a.store.raiseAttempt(token))).toBe(true)
        expect(await commit(a, partOf(token, creditAccount(alice, 'k1')))).toEqual(committed())
        const raised = { ...token, attempt: token.attempt + 1 }
        await apply(a, partOf(raised, creditAccount(alice, 'k1')))
      })

      test('D1: a token is worth nothing in another session, though epoch and attempt are right', async () => {
        const token = await own(a, 3)
        const alice = await opened(a, token)
        expect(await commit(b, partOf(token, creditAccount(alice, 'k1')))).toEqual(committed())
        expect(await stateOf(a, alice)).toEqual(alice)
      })

      test('D1: a batch without rows is a check of its fences', async () => {
        const mine = await own(a, 3)
        const theirs = await own(b, 4)
        expect(await commit(a, partOf(mine), partOf({ ...theirs }), partOf({ ...mine, shardId: 5 }))).toEqual(committed(3))
        expect(await commit(a)).toEqual(committed())
      })
    })

    describe('D2: an account is written on top of the version it was computed from', () => {
      test('D2: another version fails the whole batch, the parts of other shards included', async () => {
        const token = await own(a, 3)
        const other = await own(a, 4)
        const alice = await opened(a, token)
        const bob = await opened(a, other, 'bob')
        const credit = creditAccount(alice, 'k1')
        await apply(a, partOf(token, credit))
        const verdict = await commit(
          a,
          partOf(token, creditAccount(alice, 'k2')),
          partOf(other, creditAccount(bob, 'k1')),
        )
        expect(verdict).toMatchObject({ kind: 'failed', cause: 'invariant' })
        expect(await stateOf(a, alice)).toEqual(credit.account)
        expect(await stateOf(a, bob)).toEqual(bob)
        await apply(a, partOf(token, creditAccount(credit.account, 'k2')), partOf(other, creditAccount(bob, 'k1')))
      })

      test('D2: a version that is not there yet, and an account that is not there at all, fail it too', async () => {
        const token = await own(a, 3)
        const alice = await opened(a, token)
        const ahead = creditAccount({ ...alice, version: alice.version + 1 }, 'k1')
        expect(await commit(a, partOf(token, ahead))).toMatchObject({ kind: 'failed', cause: 'invariant' })
        const absent = creditAccount(openAccount(3, 'nobody').account, 'k1')
        expect(await commit(a, partOf(token, absent))).toMatchObject({ kind: 'failed', cause: 'invariant' })
        expect(await stateOf(a, alice)).toEqual(alice)
      })

      test('D2: what exists is not made again: an account, an entry, a transaction, a used key', async () => {
        const token = await own(a, 3)
        const alice = await opened(a, token)
        const credit = creditAccount(alice, 'k1')
        await apply(a, partOf(token, credit))
        const again: readonly Change[] = [
          openAccount(3, 'alice'),
          withRows(creditAccount(credit.account, 'k2'), { entries: credit.rows.entries }),
          withRows(creditAccount(credit.account, 'k3'), { transactions: credit.rows.transactions }),
          creditAccount(credit.account, 'k1'),
        ]
        for (const change of again) {
          expect(await commit(a, partOf(token, change))).toMatchObject({ kind: 'failed', cause: 'invariant' })
        }
        expect(await stateOf(a, alice)).toEqual(credit.account)
      })
    })

    describe('D3: a failure is definite, and what is not known is unknown', () => {
      test('D3: a row that cannot be stored fails its batch for good, and the next one is taken', async () => {
        const token = await own(a, 3)
        const other = await own(a, 4)
        const alice = await opened(a, token)
        const bob = await opened(a, other, 'bob')
        const poisoned = { ...alice, registeredBy: 'a\u0000b' }
        const verdict = await commit(
          a,
          partOf(other, creditAccount(bob, 'k1')),
          partOf(token, creditAccount(poisoned, 'k1')),
        )
        expect(verdict).toMatchObject({ kind: 'failed', cause: 'data' })
        expect(await stateOf(a, bob)).toEqual(bob)
        await apply(a, partOf(other, creditAccount(bob, 'k1')), partOf(token, creditAccount(alice, 'k1')))
      })

      test('D3: a commit that was lost on its way is unknown, and was not applied', async () => {
        const token = await own(a, 3)
        const alice = await opened(a, token)
        a.loseNextCommit()
        expect(await commit(a, partOf(token, creditAccount(alice, 'k1')))).toMatchObject({ kind: 'unknown' })
        expect(await run(a.store.raiseAttempt(token))).toBe(true)
        expect(await stateOf(a, alice)).toEqual(alice)
        await committing(a, partOf({ ...token, attempt: 1 }, creditAccount(alice, 'k1')))
        expect(baseBalanceOf(await stateOf(b, alice))).toBe('1.5')
      })

      test('D3: a commit whose answer was lost is unknown, and was applied', async () => {
        const token = await own(a, 3)
        const alice = await opened(a, token)
        const credit = creditAccount(alice, 'k1')
        a.loseNextAnswer()
        expect(await commit(a, partOf(token, credit))).toMatchObject({ kind: 'unknown' })
        expect(await run(a.store.raiseAttempt(token))).toBe(true)
        expect(await stateOf(a, alice)).toEqual(credit.account)
        const key = { shardId: 3, accountId: 'alice', operation: 'transaction', idempotencyKey: 'k1' } as const
        expect((await run(a.store.lookUp({ accounts: [], keys: [key] }))).keys.size).toBe(1)
        await committing(a, partOf({ ...token, attempt: 1 }, creditAccount(credit.account, 'k2')))
      })

      test('D3: of a commit cut off half-way, what is seen after the attempt was raised stays so', async () => {
        const token = await own(a, 3)
        const alice = await opened(a, token)
        const held = await a.holdCommits()
        const verdict = a.store.commit({ shards: [partOf(token, creditAccount(alice, 'k1'))] })
        await run(held.reached())
        a.cutOff()
        expect(await run(verdict)).toMatchObject({ kind: 'unknown' })
        await until(async () => run(a.store.raiseAttempt(token)).catch(() => false))
        const seen = await stateOf(a, alice)
        await held.letGo()
        await harness.passTime(100)
        expect(await stateOf(b, alice)).toEqual(seen)
        const next = creditAccount(seen ?? alice, 'k2')
        await committing(a, partOf({ ...token, attempt: 1 }, next))
        expect(await stateOf(b, alice)).toEqual(next.account)
      })

      test('D3: a store that was cut off between commits takes commits again', async () => {
        const token = await own(a, 3)
        const alice = await opened(a, token)
        a.cutOff()
        await committing(a, partOf(token))
        await apply(a, partOf(token, creditAccount(alice, 'k1')))
      })
    })

    describe('D4, D5: what an acquire has waited for is seen after it', () => {
      test('D4: what was answered is in every look-up sent afterwards, whoever sends it', async () => {
        const token = await own(a, 3)
        let account = await opened(a, token)
        for (let index = 0; index < 20; index += 1) {
          const credit = creditAccount(account, `k${index}`)
          await apply(a, partOf(token, credit))
          expect((await stateOf(index % 2 === 0 ? a : b, account))?.version).toBe(credit.account.version)
          account = credit.account
        }
      })

      test('D5: while a commit holds a shard, an acquire of it is `locked`, and others are not', async () => {
        const token = await own(a, 3)
        const alice = await opened(a, token)
        const held = await a.holdCommits()
        const verdict = a.store.commit({ shards: [partOf(token, creditAccount(alice, 'k1'))] })
        await run(held.reached())
        expect((await run(b.store.acquire(3, token.epoch, token.epoch + 1))).kind).toBe('locked')
        expect((await run(b.store.acquire(4, 0, 1))).kind).toBe('owned')
        await held.letGo()
        expect(await run(verdict)).toEqual(committed(3))
        await own(b, 3, token.epoch)
        expect(baseBalanceOf(await stateOf(b, alice))).toBe('1.5')
      })

      test('D5: an acquire that waits for a commit sees it, and the old owner can commit no more', async () => {
        const token = await own(a, 3)
        const alice = await opened(a, token)
        const held = await a.holdCommits()
        const credit = creditAccount(alice, 'k1')
        const verdict = a.store.commit({ shards: [partOf(token, credit)] })
        await run(held.reached())
        const acquired = b.store.acquire(3, token.epoch, token.epoch + 1)
        await harness.passTime(50)
        await held.letGo()
        expect(await run(verdict)).toEqual(committed(3))
        expect(await run(acquired)).toMatchObject({ kind: 'owned' })
        expect(await stateOf(b, alice)).toEqual(credit.account)
        expect(await commit(a, partOf(token, creditAccount(credit.account, 'k2')))).toEqual(committed())
      })

      test('D5: ending a session frees what its commit held, and that commit is not applied later', async () => {
        const token = await own(a, 3)
        const alice = await opened(a, token)
        const held = await a.holdCommits()
        const verdict = a.store.commit({ shards: [partOf(token, creditAccount(alice, 'k1'))] })
        await run(held.reached())
        expect((await run(b.store.acquire(3, token.epoch, token.epoch + 1))).kind).toBe('locked')
        await run(b.store.terminate(a.session))
        const theirs = await own(b, 3, token.epoch)
        expect(await stateOf(b, alice)).toEqual(alice)
        await held.letGo()
        expect(await run(verdict)).toMatchObject({ kind: 'unknown' })
        await apply(b, partOf(theirs, creditAccount(alice, 'k1')))
        expect(baseBalanceOf(await stateOf(b, alice))).toBe('1.5')
      })

      test('D1, D2, D5: shards stolen back and forth lose no effect and write no sequence twice', async () => {
        const sessions = [a, b, await harness.open()]
        const history = await run(
          stealAndCommit(
            sessions.map((session) => session.store),
            { shardIds: [0, 1, 2, 3], roundsEach: 120, seed: 7 },
          ),
        )
        expect(history.failures).toEqual([])
        expect(history.steals).toBeGreaterThan(30)
        expect(history.fenced).toBeGreaterThan(5)
        for (const [accountId, keys] of history.applied) {
          const address = { shardId: Number(accountId), accountId }
          const account = await stateOf(a, address)
          expect(account?.completedCount).toBe(keys.length)
          expect(account?.sequence).toBe(keys.length)
          expect(account?.version).toBe(keys.length + 1)
          const addresses = keys.map((idempotencyKey) => ({ ...address, operation: 'transaction', idempotencyKey }) as const)
          const found = await run(b.store.lookUp({ accounts: [], keys: addresses }))
          expect(found.keys.size).toBe(keys.length)
        }
      })
    })

    describe('sessions', () => {
      test('a session is held from its start until its process is gone', async () => {
        expect(await run(b.store.sessionHeld(a.session))).toBe(true)
        expect(await run(b.store.sessionHeld(b.session))).toBe(true)
        expect(await run(b.store.sessionHeld('00000000000000000000000000000000'))).toBe(false)
        await a.crash()
        await until(async () => !(await run(b.store.sessionHeld(a.session))))
        expect(await run(b.store.sessionHeld(b.session))).toBe(true)
      })

      test('looking whether a session is held does not hold it: many may look at once', async () => {
        const looks = await run(
          Promise.all(
            Array.from({ length: 8 }, (_, index) => (index % 2 === 0 ? a : b).store.sessionHeld('f'.repeat(32))),
          ),
        )
        expect(looks).toEqual(Array<boolean>(8).fill(false))
      })

      test('a session does not end itself', async () => {
        await run(a.store.terminate(a.session))
        const token = await own(a, 3)
        await opened(a, token)
      })
    })
  })
}

function committed(...shardIds: readonly number[]): CommitVerdict {
  return { kind: 'answered', committed: new Set(shardIds) }
}

function withRows(change: Change, rows: Partial<Change['rows']>): Change {
  return { ...change, rows: { ...change.rows, ...rows } }
}
