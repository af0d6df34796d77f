/**
 * N1, H4: decisions and faults of a node count for nothing if a later owner, or a later incarnation of the same node,
 * has written.
 */
import { describe, expect, test } from 'vitest'
import {
  type CommitVerdict,
  LedgerStoreUnavailable,
  type ShardToken,
} from '../../../../../runtime/ports/ledger-store.ts'
import { OTHER_KEY } from '../../../../support/accounts.ts'
import type { ItemVerdict } from '../../../../../runtime/protocol/messages.ts'
import { delay } from '../../../../../runtime/ports/clock.ts'
import type { Signer } from '../../../../../runtime/ports/signer.ts'
import {
  applied,
  createLedger,
  credit,
  hosting,
  item,
  kinds,
  register,
  rotation,
  sendTo,
  startHost,
  writes,
} from '../../../../support/shard-hosting.ts'

const BROKEN: CommitVerdict = { kind: 'failed', cause: 'invariant', detail: 'computed from version 3, stored is 5' }

describe('the shard host in doubt', () => {
  test('N1: what a commit of unknown outcome refused is not accepted later, under an ID from before that commit', async () => {
    const { clock, batches, rows, verdicts, send, loseReply } = hosting([0])
    send(item(0, 'a', register))
    await clock.pass(10)
    loseReply()
    const byNext = `by ${OTHER_KEY.publicKey}`
    send(
      item(0, 'a', credit('a', 'too soon', byNext)),
      item(0, 'a', rotation('a')),
      item(0, 'a', credit('a', 'in time', byNext)),
    )
    await clock.pass(200)
    expect(kinds(verdicts)).toEqual(['registered', 'undecided', 'rotated', 'accepted'])
    expect(writes(batches, 'too soon')).toBe(0)
    // Asked for anew, it is accepted under an ID of its own time.
    send(item(0, 'a', credit('a', 'too soon', byNext)))
    await clock.pass(20)
    const ids = [...rows.transactions.values()].map(({ transaction }) => transaction.txnId)
    expect(ids).toHaveLength(2)
    expect(ids).toEqual(ids.toSorted())
  })

  test('D1: a shard that the fence left out waits for the store, though a signature was checked again meanwhile', async () => {
    const ledger = createLedger([0])
    const { clock, control, batches } = ledger
    const signer: Signer = {
      verifyMany: async (checks) => {
        if (checks.some(({ publicKey }) => publicKey === OTHER_KEY.publicKey)) await delay(clock, 50)
        return checks.map(({ signature, publicKey }) => signature === `by ${publicKey}`)
      },
      signMany: (_, payloads) => Promise.resolve(payloads.map(() => 'receipt')),
      receiptKeyId: () => 'receipt-key',
    }
    const { host, store } = startHost(ledger, 's', [0], {}, { signer })
    const verdicts: ItemVerdict[] = []
    sendTo(host, verdicts, item(0, 'a', register))
    await clock.pass(10)
    const { shards } = store
    let answers = false
    Object.assign(store, { shards: () => (answers ? shards() : Promise.reject(new Error('no answer'))) })
    control.commit = () => ({ kind: 'answered', committed: new Set() })
    const signedByNext = credit('a', 'k', `by ${OTHER_KEY.publicKey}`)
    sendTo(host, verdicts, item(0, 'a', rotation('a')), item(0, 'a', signedByNext))
    await clock.pass(1_000)
    expect([kinds(verdicts), batches.length]).toEqual([['registered'], 2])
    control.commit = applied
    answers = true
    await clock.pass(2_000)
    expect(kinds(verdicts)).toEqual(['registered', 'rotated', 'accepted'])
  })

  test('H3: a raised attempt whose answer was lost is raised: the shard is not given up, and what waited is answered', async () => {
    const { clock, control, host, store, logged, verdicts, send } = hosting([0])
    const { raiseAttempt } = store
    Object.assign(store, {
      raiseAttempt: async (token: ShardToken) => {
        await raiseAttempt(token)
        Object.assign(store, { raiseAttempt })
        throw new Error('no answer')
      },
    })
    control.commit = () => ({ kind: 'unknown', detail: 'no answer' })
    send(item(0, 'a', register))
    await clock.pass(1)
    control.commit = applied
    await clock.pass(200)
    expect(kinds(verdicts)).toEqual(['registered'])
    expect(host.serving().get(0)).toMatchObject({ epoch: 1, attempt: 1 })
    expect(logged.map(({ event }) => event)).not.toContain('shard_fenced')
  })

  test.for([
    ['cannot be read', new TypeError('a row that cannot be read'), true],
    ['cannot be reached', new LedgerStoreUnavailable('PostgreSQL failed: 53300'), false],
  ] as const)(
    'D4: a shard that %s after an unknown outcome is given up only if the store answers',
    async ([, error, isGivenUp]) => {
      const { clock, control, host, store, logged, verdicts, send } = hosting([0, 1])
      send(item(0, 'a', register), item(1, 'b', register))
      await clock.pass(10)
      const { openShard } = store
      Object.assign(store, {
        openShard: (shardId: number) => (shardId === 0 ? Promise.reject(error) : openShard(shardId)),
      })
      control.commit = () => ({ kind: 'unknown', detail: 'no answer' })
      send(item(0, 'a', credit('a', 'k')))
      await clock.pass(1)
      control.commit = applied
      for (let second = 0; second < 30; second += 1) {
        send(item(1, 'b', credit('b', `k${second}`)))
        await clock.pass(1_000)
      }
      const lines = logged.map(({ event }) => event)
      expect(lines.filter((event) => event === 'recovery_delayed')).toHaveLength(1)
      expect(lines.filter((event) => event === 'shard_quarantined')).toHaveLength(isGivenUp ? 1 : 0)
      expect(host.refused()).toEqual(isGivenUp ? [0] : [])
      expect(kinds(verdicts).filter((kind) => kind === 'accepted')).toHaveLength(30)
      Object.assign(store, { openShard })
      await clock.pass(2_000)
      expect(host.serving().has(0)).toBe(!isGivenUp)
    },
  )

  // The second: as a store that was put back to before the owner's epoch may show it.
  test.for([2, 1])(
    'H3: one that another has by then, in epoch %i, is given up, whatever was answered',
    async (epoch) => {
      const { clock, control, host, store, records, batches, verdicts, send } = hosting([0])
      Object.assign(store, {
        raiseAttempt: () => {
          Object.assign(store, { raiseAttempt: () => Promise.resolve(false) })
          records.set(0, { shardId: 0, epoch, attempt: 1, nodeId: 'another', session: 'another' })
          return Promise.reject(new Error('no answer'))
        },
      })
      control.commit = () => ({ kind: 'unknown', detail: 'no answer' })
      send(item(0, 'a', register))
      await clock.pass(200)
      expect(kinds(verdicts)).toEqual(['undecided'])
      expect(host.serving().has(0)).toBe(false)
      // Not stepped again under what is another's attempt.
      expect(batches).toHaveLength(1)
    },
  )

  test('H4: what breaks an invariant because the shard has another owner is given up, and not quarantined', async () => {
    const { clock, control, host, logged, verdicts, send, give, serve } = hosting([0])
    control.commit = () => {
      give(0, 'another')
      return BROKEN
    }
    send(item(0, 'a', register))
    await clock.pass(100)
    expect(kinds(verdicts)).toEqual(['undecided'])
    expect(host.serving().has(0)).toBe(false)
    expect(host.refused()).toEqual([])
    expect(logged.map(({ event }) => event)).toContain('shard_fenced')
    expect(logged.map(({ event }) => event)).not.toContain('shard_quarantined')
    control.commit = applied
    await serve(0)
    send(item(0, 'a', register, { epoch: 3 }))
    await clock.pass(20)
    expect(kinds(verdicts)).toEqual(['undecided', 'registered'])
  })

  test('H4: while the store cannot say whose the shard is, it is neither stepped nor held for broken', async () => {
    const { clock, control, host, store, verdicts, batches, send } = hosting([0])
    const shards = store.shards
    let reached = false
    Object.assign(store, { shards: () => (reached ? shards() : Promise.reject(new Error('no answer'))) })
    control.commit = () => BROKEN
    send(item(0, 'a', register))
    await clock.pass(1_000)
    send(item(0, 'a2', register))
    await clock.pass(1_000)
    expect(batches).toHaveLength(1)
    expect([kinds(verdicts), host.refused()]).toEqual([[], []])
    reached = true
    await clock.pass(2_000)
    expect(host.refused()).toEqual([0])
    expect(kinds(verdicts)).toEqual(['undecided', 'undecided'])
  })
})
