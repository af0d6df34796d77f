/** K1, K5, K6: a failing look-up delays only its own shard, and only while a client waits. */
import { describe, expect, test } from 'vitest'
import { delay } from '../../../../../runtime/ports/clock.ts'
import type { LedgerStore, LookUpQuestion } from '../../../../../runtime/ports/ledger-store.ts'
import { MAX_ALONE } from '../../../../../runtime/node/lookup/look-up-rounds.ts'
import { START_MS } from '../../../../support/accounts.ts'
import {
  arriving,
  balanceIn,
  credit,
  failing,
  hosting,
  item,
  kinds,
  register,
} from '../../../../support/shard-hosting.ts'
import { deliveriesBody, deliveryFrom } from '../../../../support/bodies.ts'

/** As the store gives up a statement. */
const TIMEOUT_MS = 5_000

const keysIn = ({ keys }: LookUpQuestion) => keys.map(({ idempotencyKey }) => idempotencyKey)
const asksForMoreThan = (most: number) => (question: LookUpQuestion) => question.keys.length > most

/** Questions like these are not answered in time; `asked`: how large they all were, in order. */
function bound(
  { store, clock }: { readonly store: LedgerStore; readonly clock: ReturnType<typeof hosting>['clock'] },
  isTooMuch: (question: LookUpQuestion) => boolean,
) {
  const { lookUp } = store
  const asked: number[] = []
  const failed: number[] = []
  Object.assign(store, {
    lookUp: async (question: LookUpQuestion) => {
      asked.push(question.keys.length)
      if (!isTooMuch(question)) return lookUp(question)
      failed.push(clock.monotonic())
      await delay(clock, TIMEOUT_MS)
      return failing('canceling statement due to statement timeout')
    },
  })
  return { asked, failed, mend: () => Object.assign(store, { lookUp }) }
}

describe('what a look-up asks for', () => {
  test('a key that many commands of a round name is asked for once', async () => {
    const { clock, questions, verdicts, send } = hosting([0])
    send(item(0, 'a', register))
    await clock.pass(10)
    send(...Array.from({ length: 20 }, () => item(0, 'a', credit('a', 'same'))))
    await clock.pass(20)
    expect(questions.slice(-1).map(keysIn)).toEqual([['same']])
    expect(kinds(verdicts).slice(1)).toEqual(Array.from({ length: 20 }, () => 'accepted'))
  })
})

describe('K5: a look-up that is not answered', () => {
  test('is split in halves until each is answered, then whole again, and keeps the commands of each shard in order', async () => {
    const ledger = hosting([0, 1])
    const { clock, rows, batches, verdicts, send } = ledger
    send(item(0, 'a', register), item(1, 'b', register))
    await clock.pass(10)
    const bounds = bound(ledger, asksForMoreThan(5))
    const orders = (name: string, accountId: string) =>
      Array.from({ length: 20 }, (_, index) => credit(accountId, `${name} ${index}`))
    const patient = { deadlineMs: START_MS + 600_000 }
    send(
      ...orders('first', 'a').map((order) => item(0, 'a', order, patient)),
      ...orders('first', 'b').map((order) => item(1, 'b', order, patient)),
    )
    await clock.pass(100_000)
    expect(kinds(verdicts).slice(2)).toEqual(Array.from({ length: 40 }, () => 'accepted'))
    for (const shardId of [0, 1]) {
      const written = batches
        .flatMap(({ shards }) => shards.filter(({ token }) => token.shardId === shardId))
        .flatMap(({ transactions }) => transactions.map(({ transaction }) => transaction.idempotencyKey))
      expect(written).toEqual(Array.from({ length: 20 }, (_, index) => `first ${index}`))
    }
    bounds.mend()
    const { questions } = ledger
    const before = questions.length
    for (let round = 0; round < 6; round += 1) {
      send(...orders(`again ${round}`, 'a').map((order) => item(0, 'a', order, patient)))
      await clock.pass(100)
    }
    expect(Math.max(...questions.slice(before).map(({ keys }) => keys.length))).toBe(20)
    expect(balanceIn(rows, 'a')).toBe('140')
  })

  test('is separated: its shard waits until its client no longer does, and other shards continue', async () => {
    const ledger = hosting([0, 1, 2])
    const { clock, verdicts, send } = ledger
    send(item(0, 'a', register), item(1, 'b', register))
    await clock.pass(10)
    bound(ledger, (question) => keysIn(question).includes('poison'))
    const untilMs = (deadlineMs: number) => ({ deadlineMs: START_MS + deadlineMs })
    send(
      item(0, 'a', credit('a', 'poison'), untilMs(12_000)),
      item(0, 'a', credit('a', 'behind it'), untilMs(60_000)),
      item(1, 'b', credit('b', 'with it'), untilMs(60_000)),
    )
    // Their shards were in no look-up that failed.
    await clock.pass(100)
    send(item(2, 'c', register, untilMs(60_000)))
    await clock.pass(TIMEOUT_MS)
    expect(kinds(verdicts).slice(2)).toEqual(['registered'])
    send(item(2, 'c', credit('c', 'beside it'), untilMs(60_000)))
    await clock.pass(20)
    expect(kinds(verdicts).slice(2)).toEqual(['registered', 'accepted'])
    await clock.pass(TIMEOUT_MS + 500)
    expect(kinds(verdicts).slice(2)).toEqual(['registered', 'accepted', 'accepted'])
    await clock.pass(2 * TIMEOUT_MS)
    expect(kinds(verdicts).slice(2)).toEqual(['registered', 'accepted', 'accepted', 'undecided', 'accepted'])
  })

  test('K7: of a message backs off, then its channel is parked, without loss', async () => {
    const ledger = hosting([0, 1])
    const { clock, rows, host, logged, verdicts, send } = ledger
    send(item(0, 'a', register), item(0, 'a2', register), item(1, 'b', register))
    await clock.pass(10)
    const { failed, mend } = bound(ledger, ({ accounts }) => accounts.some(({ accountId }) => accountId === 'a3'))
    const messages = ['a3', 'a2'].map((accountId, index) => arriving(index + 1, accountId))
    const deliver = () => host.receiveDeliveries(deliveriesBody([deliveryFrom(3, messages)]), () => undefined)
    deliver()
    await clock.pass(60_000)
    expect(balanceIn(rows, 'a2')).toBe('0')
    const pauses = failed.slice(1).map((atMs, index) => atMs - (failed[index] ?? 0) - TIMEOUT_MS)
    expect(pauses).toEqual(pauses.toSorted((a, b) => a - b))
    // Together with the other, in half of the batch, and alone.
    expect(failed).toHaveLength(1 + MAX_ALONE)
    expect(logged.filter(({ event }) => event === 'channel_parked')).toMatchObject([
      { fields: { shard: 0, source: 3, message: 1, stage: 'look_up' } },
    ])
    expect(host.backlog()).toBe(0)
    send(item(1, 'b', credit('b', 'k'), { deadlineMs: START_MS + 600_000 }))
    send(item(0, 'a', credit('a', 'k'), { deadlineMs: START_MS + 600_000 }))
    await clock.pass(20)
    expect(kinds(verdicts).slice(-2)).toEqual(['accepted', 'accepted'])
    mend()
    deliver()
    await clock.pass(2 * TIMEOUT_MS)
    expect([balanceIn(rows, 'a2'), host.refused()]).toEqual(['1', []])
  })

  test('because the store is absent splits nothing: all are looked up again together later, and one log line tells it', async () => {
    const ledger = hosting([0, 1, 2, 3])
    const names = ['a', 'b', 'c', 'd'].map((letter, shardId) => ({ shardId, name: `${letter}1` }))
    const { clock, store, questions, logged, verdicts, send } = ledger
    const until = { deadlineMs: START_MS + 60_000 }
    send(...names.map(({ shardId, name }) => item(shardId, name, register, until)))
    await clock.pass(100)
    const { lookUp, shards } = store
    const refused = () => failing('connection refused')
    Object.assign(store, { lookUp: refused, shards: refused })
    for (let tenth = 0; tenth < 80; tenth += 1) {
      send(...names.map(({ shardId, name }) => item(shardId, name, credit(name, `k${tenth}`), until)))
      await clock.pass(100)
    }
    expect(kinds(verdicts)).toEqual(['registered', 'registered', 'registered', 'registered'])
    Object.assign(store, { lookUp, shards })
    const before = questions.length
    await clock.pass(200)
    expect(kinds(verdicts).slice(4)).toEqual(Array.from({ length: 320 }, () => 'accepted'))
    expect(questions.slice(before).map(({ keys }) => keys.length)).toEqual([320])
    expect(logged.filter(({ event }) => event === 'look_up_failed')).toHaveLength(1)
  })

  test('K7: leaves a request undecided at once for a fault outside the store, with one log line, and continues with the next', async () => {
    const ledger = hosting([0, 1])
    const { clock, store, logged, verdicts, send } = ledger
    send(item(0, 'a', register), item(1, 'b', register))
    await clock.pass(10)
    const { lookUp } = store
    const fails = async (question: LookUpQuestion) => {
      if (keysIn(question).includes('poison')) throw new TypeError('no such field')
      return lookUp(question)
    }
    Object.assign(store, { lookUp: fails })
    send(item(0, 'a', credit('a', 'poison')), item(0, 'a', credit('a', 'behind it')), item(1, 'b', credit('b', 'k')))
    await clock.pass(1_000)
    expect(kinds(verdicts).slice(2).toSorted()).toEqual(['accepted', 'accepted', 'undecided'])
    const lines = () => logged.filter(({ event }) => event === 'command_left_undecided')
    expect(lines()).toMatchObject([{ fields: { shard: 0, stage: 'look_up' } }])
    // Its key may have been used: a refusal would deny that.
    const [again] = verdicts.filter(({ verdict }) => verdict.kind === 'undecided')
    send({ ...item(0, 'a', credit('a', 'poison')), requestId: again?.requestId ?? '', attempt: 2 })
    await clock.pass(1_000)
    expect(kinds(verdicts).at(-1)).toBe('undecided')
    expect(lines()).toHaveLength(1)
  })

  test('keeps nothing in memory for its findings while it waits', async () => {
    const ledger = hosting([0, 1], { maxResidents: 0 })
    const { clock, host, send } = ledger
    send(item(1, 'b', register))
    await clock.pass(10)
    const deadlineMs = START_MS + 600_000
    bound(ledger, (question) => keysIn(question).includes('poison'))
    send(item(0, 'a', credit('a', 'poison'), { deadlineMs }))
    await clock.pass(TIMEOUT_MS + 50)
    send(item(1, 'b', credit('b', 'k'), { deadlineMs }))
    await clock.pass(20)
    expect([host.measures().lookUps, host.measures().residents]).toEqual([1, 0])
  })
})

test('K6: a command that is late when its look-up has failed is answered so, in any shard', async () => {
  const ledger = hosting([0, 1])
  const { clock, verdicts, logged, send } = ledger
  send(item(0, 'a', register), item(1, 'b', register))
  await clock.pass(10)
  bound(ledger, () => true)
  send(item(0, 'a', credit('a', 'k'), { deadlineMs: START_MS + 1_000 }))
  await clock.pass(100)
  send(item(1, 'b', credit('b', 'k'), { deadlineMs: START_MS + 1_000 }))
  await clock.pass(TIMEOUT_MS)
  expect(kinds(verdicts).slice(2)).toEqual(['undecided', 'undecided'])
  expect(logged.map(({ event }) => event)).toContain('look_up_failed')
})
