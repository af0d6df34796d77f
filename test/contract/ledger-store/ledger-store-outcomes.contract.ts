/** The part of the contract that is about what an answer proves, and what is seen after it (D3-D5). Registered by `ledgerStoreContract`. */
import { describe, expect, test } from 'vitest'
import { holdId } from '../../../actors/account/state.ts'
import {
  baseBalanceOf,
  creditAccount,
  openAccount,
  partOf,
  partWith,
  rotateAccount,
} from '../../support/postgres/ledger-rows.ts'
import { addressOfState } from '../../../actors/actor-state.ts'
import {
  actorRows,
  concludeTransfer,
  dropHolds,
  endActor,
  keepHolds,
  legHold,
  pendTransfer,
  sendRows,
  tokenState,
} from '../../support/postgres/ledger-rows-values.ts'
import { committed, type Scene } from './ledger-store-scene.ts'
import { stealAndCommit } from './ledger-store-stealing.ts'

export function outcomesContract(scene: Scene): void {
  repeatedContract(scene)
  describe('D3: a failure is definite, and what is not known is unknown', () => {
    test('D3: a row that cannot be stored fails its batch for good, and the next one is taken', async () => {
      const token = await scene.own(scene.a, 3)
      const other = await scene.own(scene.a, 4)
      const alice = await scene.opened(scene.a, token)
      const bob = await scene.opened(scene.a, other, 'bob')
      const credit = creditAccount(alice, 'k1')
      const transactions = credit.rows.transactions.map(({ transaction, receipt }) => ({
        transaction: { ...transaction, tokenId: 'a\u0000b' },
        receipt,
      }))
      const poisoned = { ...credit, rows: { ...credit.rows, transactions } }
      const verdict = await scene.commit(scene.a, partOf(other, creditAccount(bob, 'k1')), partOf(token, poisoned))
      expect(verdict).toMatchObject({ kind: 'failed', cause: 'data' })
      expect(await scene.stateOf(scene.a, bob)).toEqual(bob)
      await scene.apply(scene.a, partOf(other, creditAccount(bob, 'k1')), partOf(token, creditAccount(alice, 'k1')))
    })

    test('D3: a commit that was lost on its way is unknown, and was not applied', async () => {
      const token = await scene.own(scene.a, 3)
      const alice = await scene.opened(scene.a, token)
      scene.a.loseNextCommit()
      expect(await scene.commit(scene.a, partOf(token, creditAccount(alice, 'k1')))).toMatchObject({ kind: 'unknown' })
      expect(await scene.run(scene.a.store.raiseAttempt(token))).toBe(true)
      expect(await scene.stateOf(scene.a, alice)).toEqual(alice)
      await scene.committing(scene.a, partOf({ ...token, attempt: 1 }, creditAccount(alice, 'k1')))
      expect(baseBalanceOf(await scene.stateOf(scene.b, alice))).toBe('1.5')
    })

    test('D3: a commit whose answer was lost is unknown, and was applied', async () => {
      const token = await scene.own(scene.a, 3)
      const alice = await scene.opened(scene.a, token)
      const credit = creditAccount(alice, 'k1')
      scene.a.loseNextAnswer()
      expect(await scene.commit(scene.a, partOf(token, credit))).toMatchObject({ kind: 'unknown' })
      expect(await scene.run(scene.a.store.raiseAttempt(token))).toBe(true)
      expect(await scene.stateOf(scene.a, alice)).toEqual(credit.account)
      const key = { shardId: 3, accountId: 'alice', operation: 'transaction', idempotencyKey: 'k1' } as const
      expect((await scene.ask(scene.a, { keys: [key] })).keys.size).toBe(1)
      await scene.committing(scene.a, partOf({ ...token, attempt: 1 }, creditAccount(credit.account, 'k2')))
    })

    test('D3: of a commit cut off half-way, what is seen after the attempt was raised stays so', async () => {
      const token = await scene.own(scene.a, 3)
      const alice = await scene.opened(scene.a, token)
      const held = await scene.a.holdCommits()
      const verdict = scene.a.store.commit({ shards: [partOf(token, creditAccount(alice, 'k1'))] })
      await scene.run(held.reached())
      scene.a.cutOff()
      expect(await scene.run(verdict)).toMatchObject({ kind: 'unknown' })
      await scene.until(async () => scene.run(scene.a.store.raiseAttempt(token)).catch(() => false))
      const seen = await scene.stateOf(scene.a, alice)
      await held.letGo()
      await scene.harness.passTime(100)
      expect(await scene.stateOf(scene.b, alice)).toEqual(seen)
      const next = creditAccount(seen ?? alice, 'k2')
      await scene.committing(scene.a, partOf({ ...token, attempt: 1 }, next))
      expect(await scene.stateOf(scene.b, alice)).toEqual(next.account)
    })

    test('D3: a store that was cut off between commits takes commits again', async () => {
      const token = await scene.own(scene.a, 3)
      const alice = await scene.opened(scene.a, token)
      scene.a.cutOff()
      await scene.committing(scene.a, partOf(token))
      expect(await scene.commit(scene.a, partOf(token, creditAccount(alice, 'k1')))).toEqual(committed(3))
    })
  })

  describe('D4, D5: what an acquire has waited for is seen after it', () => {
    test('D4: every later look-up of any session shows an answered commit', async () => {
      const token = await scene.own(scene.a, 3)
      let account = await scene.opened(scene.a, token)
      for (let index = 0; index < 20; index += 1) {
        const credit = creditAccount(account, `k${index}`)
        await scene.apply(scene.a, partOf(token, credit))
        expect((await scene.stateOf(index % 2 === 0 ? scene.a : scene.b, account))?.version).toBe(
          credit.account.version,
        )
        account = credit.account
      }
    })

    test('D5: while a commit holds a shard, an acquire of it is `locked`, and others are not', async () => {
      const token = await scene.own(scene.a, 3)
      const alice = await scene.opened(scene.a, token)
      const held = await scene.a.holdCommits()
      const verdict = scene.a.store.commit({ shards: [partOf(token, creditAccount(alice, 'k1'))] })
      await scene.run(held.reached())
      expect((await scene.run(scene.b.store.acquire(3, token.epoch, token.epoch + 1))).kind).toBe('locked')
      expect((await scene.run(scene.b.store.acquire(4, 0, 1))).kind).toBe('owned')
      await held.letGo()
      expect(await scene.run(verdict)).toEqual(committed(3))
      await scene.own(scene.b, 3, token.epoch)
      expect(baseBalanceOf(await scene.stateOf(scene.b, alice))).toBe('1.5')
    })

    test('D5: an acquire that waits for a commit sees it, and the old owner can commit no more', async () => {
      const token = await scene.own(scene.a, 3)
      const alice = await scene.opened(scene.a, token)
      const held = await scene.a.holdCommits()
      const credit = creditAccount(alice, 'k1')
      const verdict = scene.a.store.commit({ shards: [partOf(token, credit)] })
      await scene.run(held.reached())
      const acquired = scene.b.store.acquire(3, token.epoch, token.epoch + 1)
      await scene.harness.passTime(50)
      await held.letGo()
      expect(await scene.run(verdict)).toEqual(committed(3))
      // On a machine that was slow to let go it has given up instead: then the next one has nothing to wait for.
      if ((await scene.run(acquired)).kind !== 'owned') await scene.own(scene.b, 3, token.epoch)
      expect(await scene.stateOf(scene.b, alice)).toEqual(credit.account)
      expect(await scene.commit(scene.a, partOf(token, creditAccount(credit.account, 'k2')))).toEqual(committed())
    })

    test('D5: ending a session frees what its commit held, and that commit is not applied later', async () => {
      const token = await scene.own(scene.a, 3)
      const alice = await scene.opened(scene.a, token)
      const held = await scene.a.holdCommits()
      const verdict = scene.a.store.commit({ shards: [partOf(token, creditAccount(alice, 'k1'))] })
      await scene.run(held.reached())
      expect((await scene.run(scene.b.store.acquire(3, token.epoch, token.epoch + 1))).kind).toBe('locked')
      await scene.run(scene.b.store.terminate(scene.a.session))
      const theirs = await scene.own(scene.b, 3, token.epoch)
      expect(await scene.stateOf(scene.b, alice)).toEqual(alice)
      await held.letGo()
      expect(await scene.run(verdict)).toMatchObject({ kind: 'unknown' })
      await scene.apply(scene.b, partOf(theirs, creditAccount(alice, 'k1')))
      expect(baseBalanceOf(await scene.stateOf(scene.b, alice))).toBe('1.5')
    })

    test('D1, D2, D5: shards stolen back and forth lose no effect and write no sequence twice', async () => {
      const sessions = [scene.a, scene.b, await scene.harness.open()]
      const history = await scene.run(
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
        const account = await scene.stateOf(scene.a, address)
        expect(account?.completedCount).toBe(keys.length)
        expect(account?.sequence).toBe(keys.length)
        expect(account?.version).toBe(keys.length + 1)
        const addresses = keys.map(
          (idempotencyKey) => ({ ...address, operation: 'transaction', idempotencyKey }) as const,
        )
        const found = await scene.ask(scene.b, { keys: addresses })
        expect(found.keys.size).toBe(keys.length)
      }
    })
  })
}

/** How a store must treat a second copy of a commit with the same epoch and attempt, which arrives after the first. */
function repeatedContract(scene: Scene): void {
  describe('I3: a commit that arrives twice takes effect once', () => {
    /** Each arrives once more after the others, by when what it wrote has been written over, or is gone. */
    test('every commit of a life fails whole when it comes again', async () => {
      const token = await scene.own(scene.a, 3)
      const opened = openAccount(3, 'alice')
      const credited = creditAccount(opened.account, 'k1')
      const kept = keepHolds(credited.account, legHold())
      const dropped = dropHolds(kept.account, holdId(legHold()))
      const pended = pendTransfer(dropped.account, 'k2')
      const [transfer] = [...pended.account.holds.keys()].filter((name) => !dropped.account.holds.has(name))
      const concluded = concludeTransfer(pended.account, transfer ?? '')
      const rotated = rotateAccount(concluded.account, 'k3')
      const taken = { marks: [{ source: 5, mark: 3 }] }
      const life = [
        partOf(token, opened),
        partOf(token, credited),
        partOf(token, kept),
        partOf(token, dropped),
        partOf(token, pended),
        partOf(token, concluded),
        partOf(token, rotated),
        partWith(token, sendRows(2, 1, 2)),
        partWith(token, taken),
        partWith(token, sendRows(2, 3, 3), actorRows(tokenState())),
        partWith(token, { marks: [{ source: 5, mark: 4 }] }, endActor(tokenState())),
      ]
      for (const part of life) await scene.apply(scene.a, part)
      const state = await scene.stateOf(scene.b, rotated.account)
      const start = await scene.run(scene.b.store.openShard(3))
      const totals = await scene.harness.boundaryTotals()
      for (const part of life) await scene.refuse(scene.a, part)
      expect(await scene.stateOf(scene.b, rotated.account)).toEqual(state)
      expect(await scene.run(scene.b.store.openShard(3))).toEqual(start)
      expect(await scene.harness.boundaryTotals()).toEqual(totals)
      const address = addressOfState(tokenState())
      expect((await scene.ask(scene.b, { actors: [{ shardId: 3, address }] })).actors.size).toBe(0)
    })
  })
}
