/** B1, B2, H1 to H4: replies and further steps after each outcome of a commit. */
import { describe, expect, test } from 'vitest'
import { groupAddress } from '../../../../../actors/address.ts'
import { canonicalJson } from '../../../../../actors/canonical-json.ts'
import type { CommitBatch } from '../../../../../runtime/ports/ledger-store.ts'
import { encodeVerdicts } from '../../../../../runtime/protocol/wire.ts'
import { OTHER_KEY, START_MS } from '../../../../support/accounts.ts'
import {
  applied,
  answersOf,
  credit,
  hosting,
  kinds,
  receiptOf,
  register,
  rotation,
  writes,
} from '../../../../support/shard-hosting.ts'
import { verdictsIn, itemsBody } from '../../../../support/bodies.ts'

describe('the shard host', () => {
  test('B1: one poisonous command among many is refused alone, and all others are applied', async () => {
    const { clock, control, batches, verdicts, item, send } = hosting()
    send(item(0, 'a', register), item(1, 'b', register))
    await clock.pass(10)
    const good: CommitBatch[] = []
    control.commit = (batch) => {
      const poisonous = batch.shards.some(({ transactions }) =>
        transactions.some((row) => row.transaction.idempotencyKey === 'poison'),
      )
      if (poisonous) return { kind: 'failed', cause: 'data', detail: 'the row cannot be stored' }
      good.push(batch)
      return applied(batch)
    }
    const keys = ['a1', 'a2', 'poison', 'a3', 'a4']
    send(...keys.map((key) => item(0, 'a', credit('a', key))), item(1, 'b', credit('b', 'b1')))
    await clock.pass(100)
    const byRequest = new Map(verdicts.map((verdict) => [verdict.requestId, kinds([verdict])[0]]))
    expect([...byRequest.values()].filter((kind) => kind === 'accepted').length).toBe(5)
    expect(byRequest.get('request-5')).toBe('cannot_be_stored')
    for (const key of ['a1', 'a2', 'a3', 'a4', 'b1']) expect(writes(good, key)).toBe(1)
    expect(batches.length).toBeLessThan(12)
    const sequences = good
      .flatMap(({ shards }) => shards.flatMap(({ entries }) => entries))
      .filter(({ accountId }) => accountId === 'a')
    expect(sequences.map(({ sequence }) => sequence)).toEqual([1, 2, 3, 4])
  })

  test('H4: a broken invariant ends its shard and no other', async () => {
    const { clock, control, host, verdicts, item, send } = hosting()
    control.commit = (batch) =>
      batch.shards.some(({ token }) => token.shardId === 0)
        ? { kind: 'failed', cause: 'invariant', detail: 'version' }
        : applied(batch)
    send(item(0, 'a', register), item(1, 'b', register))
    await clock.pass(100)
    expect(kinds(verdicts).sort()).toEqual(['registered', 'undecided'])
    expect([...host.serving().keys()]).toEqual([1])
    expect(host.refused()).toEqual([0])
  })

  test('B5: one request that fails alone, without a faulty row, is not applied, and the others are', async () => {
    const { clock, control, verdicts, item, send } = hosting()
    control.commit = (batch) =>
      batch.shards.some(({ accounts }) => accounts.some(({ account }) => account.accountId === 'odd'))
        ? { kind: 'failed', cause: 'transient', detail: 'unknown cause' }
        : applied(batch)
    send(item(0, 'a', register), item(0, 'odd', register), item(1, 'b', register))
    await clock.pass(500)
    expect(kinds(verdicts)).toEqual(['registered', 'registered', 'not_applied'])
  })

  test('H3: after an unknown outcome nothing is committed before the attempt was raised, then it is stepped again', async () => {
    const { clock, control, batches, verdicts, item, send, host } = hosting()
    control.commit = () => ({ kind: 'unknown', detail: 'no answer' })
    send(item(0, 'a', register))
    await clock.pass(1)
    control.commit = applied
    await clock.pass(50)
    expect(kinds(verdicts)).toEqual(['registered'])
    expect(batches.map(({ shards }) => shards[0]?.token.attempt)).toEqual([0, 1])
    expect(host.serving().get(0)).toMatchObject({ epoch: 1, attempt: 1 })
  })

  test('H3: commands that waited for their look-up when an outcome was unknown are stepped once, in order', async () => {
    const { clock, control, verdicts, item, send, host } = hosting([0], { maxShardMailbox: 10_000 })
    control.commit = applied
    send(item(0, 'a', register))
    await clock.pass(10)
    control.commit = () => ({ kind: 'unknown', detail: 'no answer' })
    let go: () => void = () => undefined
    send(item(0, 'a', credit('a', 'first')))
    await clock.pass(0)
    control.lookUps = new Promise((resolve) => (go = resolve))
    for (let index = 0; index < 6_000; index += 1) send(item(0, 'a', credit('a', `k${index}`)))
    await clock.pass(200)
    control.commit = applied
    go()
    await clock.pass(2_000)
    expect(host.refused()).toEqual([])
    expect(kinds(verdicts).filter((kind) => kind === 'accepted').length).toBe(6_001)
    const ids = verdicts.map(({ requestId }) => Number(requestId.slice('request-'.length)))
    expect(ids).toEqual([...ids].sort((one, other) => one - other))
  })

  test('H3: a half whose outcome is unknown leaves no other half behind: each command is stepped once', async () => {
    const { clock, control, batches, verdicts, item, send, host } = hosting([0])
    send(item(0, 'a', register))
    await clock.pass(10)
    control.commit = () => {
      control.commit = () => {
        control.commit = applied
        return { kind: 'unknown', detail: 'no answer' }
      }
      return { kind: 'failed', cause: 'data', detail: 'one of them' }
    }
    send(...['k1', 'k2', 'k3', 'k4'].map((key) => item(0, 'a', credit('a', key))))
    await clock.pass(500)
    expect(host.refused()).toEqual([])
    expect(kinds(verdicts)).toEqual(['registered', 'accepted', 'accepted', 'accepted', 'accepted'])
    // Registered, failed, unknown; whatever was committed after that was committed by the attempt that fenced it.
    const attempts = batches.map(({ shards }) => shards[0]?.token.attempt)
    expect(attempts.slice(0, 3)).toEqual([0, 0, 0])
    expect(attempts.slice(3)).not.toContain(0)
  })

  test('a batch is bounded by its bytes, and every shard gets its turn', async () => {
    const { clock, batches, verdicts, item, send } = hosting([0, 1], { maxBatchBytes: 4_000 })
    send(
      ...[0, 1].flatMap((shardId) =>
        Array.from({ length: 5 }, (_, index) => item(shardId, `${'ab'.charAt(shardId)}${index}`, register)),
      ),
    )
    await clock.pass(20)
    expect(kinds(verdicts).length).toBe(10)
    expect(Math.max(...batches.map(({ shards }) => shards.flatMap(({ accounts }) => accounts).length))).toBe(3)
  })

  test.for([
    [100_000_000, 32],
    [1_000_000, 11],
  ] as const)(
    'a batch of at most %i bytes holds, of large groups, %i: messages are bounded, too',
    async ([maxBatchBytes, groups]) => {
      const { clock, batches, item, send } = hosting([0], { maxBatchBytes })
      const legs = Array.from({ length: 64 }, (_, leg) => {
        return { account_id: `a${leg}`, to_account_id: `b${leg}`, type: 'transfer', amount: '1' }
      })
      const registrations = Array.from({ length: 100 }, (_, index) => {
        const id = `00000000-0000-4000-8000-${String(index).padStart(12, '0')}`
        const payload = canonicalJson({ group_id: id, legs, timeout_seconds: 900 })
        return item(0, groupAddress(id), { kind: 'register_group', payload, registrationKey: null })
      })
      send(...registrations)
      await clock.pass(20)
      const sent = batches.map(({ shards }) => shards.flatMap(({ outbox }) => outbox).length)
      expect(sent.slice(0, 3)).toEqual([groups * 128, groups * 128, groups * 128])
    },
  )

  test('what is too much to be answered in time comes in smaller batches, until one is answered', async () => {
    const { clock, control, rows, item, send } = hosting([0])
    const sizes: number[] = []
    control.commit = (batch) => {
      const size = batch.shards.flatMap(({ accounts }) => accounts).length
      sizes.push(size)
      if (size > 20) return { kind: 'unknown', detail: 'no answer in time' }
      return applied(batch)
    }
    send(...Array.from({ length: 100 }, (_, index) => item(0, `a${index}`, register)))
    await clock.pass(2_000)
    expect(sizes[0]).toBe(100)
    expect(sizes.filter((size) => size > 20).length).toBeLessThan(12)
    expect(rows.accounts.size).toBe(100)
  })

  test('receipts that cannot be signed now are signed later', async () => {
    const { clock, verdicts, item, send, signing } = hosting([0])
    send(item(0, 'a', register))
    await clock.pass(10)
    signing.fails = true
    send(item(0, 'a', credit('a', 'k')))
    await clock.pass(50)
    expect(kinds(verdicts)).toEqual(['registered'])
    signing.fails = false
    await clock.pass(1_000)
    expect(kinds(verdicts)).toEqual(['registered', 'accepted'])
  })

  test('I1: a shard that the fence leaves out is looked at: busy is tried again, fenced is given up', async () => {
    const { clock, control, verdicts, item, send, host, give } = hosting()
    let busy = true
    control.commit = (batch) => (busy ? { kind: 'answered', committed: new Set() } : applied(batch))
    send(item(0, 'a', register))
    await clock.pass(20)
    busy = false
    await clock.pass(50)
    expect(kinds(verdicts)).toEqual(['registered'])
    busy = true
    give(0, 'another')
    send(item(0, 'a2', register))
    await clock.pass(50)
    expect(kinds(verdicts)).toEqual(['registered', 'undecided'])
    expect(host.serving().has(0)).toBe(false)
  })

  test('I3: a repeat within one batch, and one after it, gets the first answer', async () => {
    const { clock, batches, verdicts, item, send } = hosting()
    send(item(0, 'a', register))
    await clock.pass(10)
    send(item(0, 'a', credit('a', 'k')), item(0, 'a', credit('a', 'k')))
    await clock.pass(10)
    const [, first, second] = answersOf(verdicts)
    expect(first).toMatchObject({ kind: 'accepted', replayed: false })
    expect(second).toMatchObject({ kind: 'accepted', replayed: true })
    expect(receiptOf(second)).toEqual(receiptOf(first))
    expect(receiptOf(first)).toBeDefined()
    expect(writes(batches, 'k')).toBe(1)
  })

  test('S3: an order signed by a key that is rotated away before its step is refused', async () => {
    const { clock, verdicts, item, send } = hosting()
    send(item(0, 'a', register))
    await clock.pass(10)
    send(
      item(0, 'a', rotation('a')),
      item(0, 'a', credit('a', 'old')),
      item(0, 'a', credit('a', 'new', `by ${OTHER_KEY.publicKey}`)),
    )
    await clock.pass(20)
    expect(kinds(verdicts)).toEqual(['registered', 'rotated', 'signature_mismatch', 'accepted'])
  })

  test('H1: another epoch, and a shard that is not here, are moved', async () => {
    const { clock, verdicts, item, send } = hosting([0])
    send(item(0, 'a', register, { epoch: 2 }), item(5, 'a', register))
    await clock.pass(10)
    expect(kinds(verdicts)).toEqual(['moved', 'moved'])
  })

  test.for<[string, Parameters<typeof hosting>[1], readonly (readonly [number, string])[], number]>([
    [
      'a shard',
      { maxShardMailbox: 1 },
      [
        [0, 'a'],
        [0, 'a7'],
        [1, 'b'],
      ],
      1,
    ],
    [
      'an actor, and others enter',
      { maxActorMailbox: 2 },
      [
        [0, 'a'],
        [0, 'a'],
        [0, 'a'],
        [0, 'a7'],
      ],
      1,
    ],
    [
      'the node',
      { maxNodeMailbox: 2 },
      [
        [0, 'a'],
        [1, 'b'],
        [0, 'a7'],
        [1, 'b7'],
      ],
      2,
    ],
  ])('H2: a full mailbox of %s is overloaded', async ([, limits, addressed, overloaded]) => {
    const { clock, control, verdicts, item, send } = hosting([0, 1], limits)
    control.commit = () => new Promise(() => undefined)
    send(...addressed.map(([shardId, accountId]) => item(shardId, accountId, register)))
    await clock.pass(10)
    expect(kinds(verdicts)).toEqual(Array.from({ length: overloaded }, () => 'overloaded'))
  })

  test('H2: what has got its verdict leaves room for the next of its actor', async () => {
    const { clock, verdicts, item, send } = hosting([0], { maxActorMailbox: 1 })
    for (let times = 0; times < 3; times += 1) {
      send(item(0, 'a', register))
      await clock.pass(20)
    }
    expect(kinds(verdicts)).not.toContain('overloaded')
    expect(verdicts.length).toBe(3)
  })

  test('I12: an attempt that arrives after a later one of its request is dropped', async () => {
    const { clock, verdicts, item, send } = hosting()
    const late = item(0, 'a', register)
    send({ ...late, attempt: 2 })
    await clock.pass(10)
    send(late)
    await clock.pass(10)
    expect(verdicts.map(({ attempt }) => attempt)).toEqual([2])
  })

  test('what one message asked is answered in messages that the transport takes', async () => {
    const maxMessageBytes = 20_000
    const { clock, control, host, item } = hosting([0])
    control.maxMessageBytes = maxMessageBytes
    const replies: string[] = []
    const items = Array.from({ length: 90 }, (_, index) => item(0, `a${index}`, register))
    const epochs = Array.from({ length: 450 }, (_, index) => item(0, `a${index}`, register, { epoch: 2 }))
    host.receive(itemsBody([...items, ...epochs]), (reply) => replies.push(reply))
    await clock.pass(20)
    expect(replies.flatMap(verdictsIn)).toHaveLength(540)
    expect(Math.max(...replies.map((reply) => Buffer.byteLength(reply)))).toBeLessThanOrEqual(maxMessageBytes)
  })

  test.for<[string, object, readonly string[]]>([
    ['fits no message', { detail: 'x'.repeat(5_000) }, []],
    ['cannot be encoded', { field: 1n }, ['0']],
  ])('a reply that %s becomes undecided, and affects no other', ([, changes, unencodable]) => {
    const answer = { kind: 'refused', code: 'unknown_operation', detail: 'No.', field: null } as const
    const verdicts = [{ ...answer, ...changes } as typeof answer, answer].map((one, index) => ({
      requestId: `${index}`,
      attempt: 1,
      verdict: { kind: 'answered', answer: one } as const,
    }))
    const unwritten: string[] = []
    const messages = encodeVerdicts(verdicts, 1, 2_000, ({ requestId }) => unwritten.push(requestId))
    expect(unwritten).toEqual(unencodable)
    expect(messages.map(verdictsIn)).toEqual([[{ ...verdicts[0], verdict: { kind: 'undecided' } }, verdicts[1]]])
  })

  test('what has passed its deadline is not stepped', async () => {
    const { clock, batches, verdicts, item, send } = hosting()
    send(item(0, 'a', register, { deadlineMs: START_MS }))
    await clock.pass(10)
    expect(kinds(verdicts)).toEqual(['undecided'])
    expect(batches).toEqual([])
  })

  test('a drained shard takes nothing new, finishes what it has, and gives its token back', async () => {
    const { clock, control, host, verdicts, item, send } = hosting()
    let finish: () => void = () => undefined
    control.commit = (batch) => new Promise((resolve) => (finish = () => resolve(applied(batch))))
    send(item(0, 'a', register))
    await clock.pass(5)
    const drained = host.drain(0, 1_000)
    send(item(0, 'a2', register))
    await clock.pass(20)
    expect(kinds(verdicts)).toEqual(['moved'])
    finish()
    await clock.pass(20)
    expect(await drained).toEqual({ shardId: 0, epoch: 1, attempt: 0 })
    expect(kinds(verdicts)).toEqual(['moved', 'registered'])
  })
})
