/** V1 to V4: committed messages are sent in order until they are acknowledged, and a bounded number at once. */
import { describe, expect, test } from 'vitest'
import { groupAddress } from '../../../../../actors/address.ts'
import { SAVE_MS, WINDOW } from '../../../../../runtime/node/delivery/courier.ts'
import type { OutboxMessage } from '../../../../../runtime/ports/ledger-store.ts'
import { carrying, messages, numbersOf, range, SOURCE, TARGET, taken } from './courier-fixture.ts'

/** Longer than any re-send waits. */
const LONG_MS = 6_000

describe('what is carried', () => {
  test('V2: a window of 256 is on its way, in order; what is acknowledged makes room for as much', async () => {
    const { clock, sent, open, commit } = carrying()
    commit(open(), messages(1, 600))
    await clock.pass(1)
    expect(numbersOf(sent[0]?.deliveries)).toEqual(range(1, WINDOW))
    expect(sent.length).toBe(1)
    sent[0]?.answer(taken(100))
    await clock.pass(1)
    expect(numbersOf(sent[1]?.deliveries)).toEqual(range(WINDOW + 1, WINDOW + 100))
    sent[1]?.answer(taken(WINDOW + 100))
    await clock.pass(1)
    expect(numbersOf(sent[2]?.deliveries)).toEqual(range(WINDOW + 101, 600))
  })

  test('a delivery says what was sent in all and what is known to be taken in', async () => {
    const { clock, sent, open, commit } = carrying()
    commit(open(), messages(1, 300))
    await clock.pass(1)
    sent[0]?.answer(taken(200))
    await clock.pass(1)
    expect(
      sent.map(({ deliveries }) =>
        deliveries.map((one) => [one.source, one.target, one.epoch, one.began, one.acknowledged]),
      ),
    ).toEqual([[[SOURCE, TARGET, 1, 0, 0]], [[SOURCE, TARGET, 1, 0, 200]]])
  })

  test.for([
    { name: 'before the messages were', acknowledged: 2, first: 5 },
    { name: 'after the messages were', acknowledged: 4, first: 3 },
  ])('what was acknowledged is read $name: each message is carried and dropped by its number', async (read) => {
    const { clock, sent, courier, open } = carrying()
    const start = { channels: [{ target: TARGET, sent: 7, acknowledged: read.acknowledged }] }
    const incarnation = open({ ...start, outbox: messages(read.first, 7) })
    await clock.pass(1)
    expect(numbersOf(sent[0]?.deliveries)).toEqual([5, 6, 7])
    sent[0]?.answer(taken(5))
    await clock.pass(LONG_MS)
    expect(courier.backlog(incarnation, TARGET)).toBe(2)
    expect(numbersOf(sent.at(-1)?.deliveries)).toEqual([6, 7])
    sent.at(-1)?.answer(taken(7))
    expect(courier.backlog(incarnation, TARGET)).toBe(0)
  })

  test('F5: an envelope of another release is sent unchanged', async () => {
    const { clock, sent, open } = carrying()
    const [row] = messages(1, 1)
    const envelope = { ...row?.envelope, version: 7, later: { member: true } }
    open({ channels: [{ target: TARGET, sent: 1, acknowledged: 0 }], outbox: [Object.assign({}, row, { envelope })] })
    await clock.pass(1)
    expect(sent[0]?.deliveries[0]?.messages).toEqual([{ number: 1, envelope }])
  })

  test('V1: to this very node it goes without the transport', async () => {
    const { clock, sent, here, sessions, open, commit } = carrying()
    sessions.set(TARGET, 'me')
    commit(open(), messages(1, 2))
    expect(here).toEqual([])
    await clock.pass(1)
    expect(here.map(numbersOf)).toEqual([[1, 2]])
    expect(sent).toEqual([])
  })

  test('what fits no message goes in several, in order, each within half of what the transport takes', async () => {
    const { clock, sent, open, commit } = carrying(100_000)
    const incarnation = open()
    commit(incarnation, [...messages(1, 80, TARGET, 4_000), ...messages(1, 3, 2)])
    await clock.pass(1)
    expect(numbersOf(sent.flatMap(({ deliveries }) => deliveries.filter(({ target }) => target === TARGET)))).toEqual(
      range(1, 80),
    )
    expect(Math.max(...sent.map(({ bytes }) => bytes))).toBeLessThan(50_000)
    expect(new Set(sent.flatMap(({ deliveries }) => deliveries.map(({ source }) => source)))).toEqual(new Set([SOURCE]))
  })

  test('channels to shards of one node share a message', async () => {
    const { clock, sent, sessions, open, commit } = carrying()
    sessions.set(2, 'other').set(3, 'third')
    commit(open(), [...messages(1, 2), ...messages(1, 1, 2), ...messages(1, 1, 3)])
    await clock.pass(1)
    expect(sent.map(({ subject, deliveries }) => [subject, deliveries.map(({ target }) => target)])).toEqual([
      ['ledger.node.other.deliveries', [TARGET, 2]],
      ['ledger.node.third.deliveries', [3]],
    ])
  })
})

describe('what is not acknowledged', () => {
  test('V3: it is carried again from what was acknowledged, later and later, and soon again once something is', async () => {
    const { clock, sent, open, commit } = carrying()
    const incarnation = open()
    commit(incarnation, messages(1, 3))
    await clock.pass(1)
    const atMs: number[] = []
    for (let passed = 0; passed < 20_000; passed += 50) {
      const before = sent.length
      await clock.pass(50)
      if (sent.length > before) atMs.push(passed)
    }
    const gaps = atMs.slice(1).map((at, index) => at - (atMs[index] ?? 0))
    expect(gaps).toEqual([...gaps].sort((one, other) => one - other))
    expect([atMs[0], gaps.at(-1)]).toEqual([200, 5_000])
    sent.at(-1)?.answer(taken(1))
    const before = sent.length
    await clock.pass(350)
    expect(sent.length).toBe(before + 1)
    expect(numbersOf(sent.at(-1)?.deliveries)).toEqual([2, 3])
  })

  test('V3: what was lost is carried again in its time, however much follows it', async () => {
    const { clock, sent, open, commit } = carrying()
    const incarnation = open()
    for (let number = 1; number <= 10; number += 1) {
      commit(incarnation, messages(number, number))
      await clock.pass(100)
    }
    expect(sent.filter(({ deliveries }) => numbersOf(deliveries).includes(1)).length).toBeGreaterThan(1)
  })

  test('V3: an answer that comes twice, or late, changes nothing', async () => {
    const { clock, sent, courier, open, commit } = carrying()
    const incarnation = open()
    commit(incarnation, messages(1, 4))
    await clock.pass(1)
    sent[0]?.answer(taken(3))
    sent[0]?.answer(taken(3))
    sent[0]?.answer(taken(2))
    expect(courier.backlog(incarnation, TARGET)).toBe(1)
    await clock.pass(400)
    expect(numbersOf(sent[1]?.deliveries)).toEqual([4])
  })

  test.for(['not delivered', 'moved'] as const)(
    '%s: routes are asked again, and it goes to where they lead',
    async (how) => {
      const { clock, sent, sessions, control, open, commit } = carrying()
      commit(open(), messages(1, 1))
      await clock.pass(1)
      if (how === 'moved') sent[0]?.answer({ source: SOURCE, target: TARGET, kind: 'moved', mark: 0 })
      else sent[0]?.notDelivered()
      expect(control.refreshes).toBe(1)
      sessions.set(TARGET, 'next')
      await clock.pass(110)
      expect(sent.map(({ subject }) => subject)).toEqual([
        'ledger.node.other.deliveries',
        'ledger.node.next.deliveries',
      ])
    },
  )

  test('an unacknowledged message is sent less and less often', async () => {
    const { clock, sent, open, commit } = carrying()
    commit(open(), messages(1, 1))
    let answered = 0
    for (let passed = 0; passed < 12_000; passed += 10) {
      await clock.pass(10)
      for (; answered < sent.length; answered += 1) sent[answered]?.notDelivered()
    }
    expect(sent.length).toBeGreaterThan(8)
    expect(sent.length).toBeLessThan(30)
  })

  test('until its target has an owner it waits, and goes as soon as one is known', async () => {
    const { clock, sent, sessions, control, open, commit } = carrying()
    sessions.delete(TARGET)
    commit(open(), messages(1, 1))
    await clock.pass(1_000)
    expect(sent).toEqual([])
    sessions.set(TARGET, 'other')
    control.moved()
    await clock.pass(1)
    expect(sent.length).toBe(1)
    // A lost delivery is not delayed by the back-off for a missing owner.
    await clock.pass(400)
    expect(sent.length).toBe(2)
  })

  test('V5: while its target has no owner, no message is built, and the look-up backs off', async () => {
    const { clock, sent, sessions, control, open, commit } = carrying()
    const incarnation = open()
    sessions.delete(TARGET)
    const rows = messages(1, WINDOW)
    let built = 0
    const watched = rows.map((row) => ({
      ...row,
      get envelope() {
        built += 1
        return row.envelope
      },
    }))
    commit(incarnation, watched.slice(0, 200))
    for (let passed = 0; passed < 20_000; passed += 500) {
      await clock.pass(500)
      commit(incarnation, watched.slice(200 + passed / 500, 201 + passed / 500))
    }
    expect([built, sent]).toEqual([0, []])
    expect(control.looks).toBeLessThan(40)
    // The courier learns of it also without a message about a move.
    sessions.set(TARGET, 'other')
    await clock.pass(1_200)
    expect(numbersOf(sent[0]?.deliveries)).toEqual(range(1, 240))
  })

  test.for(['parked', 'unsupported'] as const)(
    'V6: %s: it waits, regardless of later commits, and is sent at once when a shard gets an owner',
    async (how) => {
      const { clock, sent, control, courier, open, commit } = carrying()
      const incarnation = open()
      commit(incarnation, messages(1, 3))
      await clock.pass(1)
      const park = () => {
        if (how === 'parked') sent.at(-1)?.answer({ source: SOURCE, target: TARGET, kind: 'parked', mark: 1 })
        else sent.at(-1)?.unsupported()
      }
      const [backlog, first] = how === 'parked' ? [3, 2] : [4, 1]
      park()
      commit(incarnation, messages(4, 4))
      await clock.pass(10_000)
      expect([sent.length, courier.backlog(incarnation, TARGET)]).toEqual([1, backlog])
      control.moved()
      await clock.pass(1)
      expect(numbersOf(sent[1]?.deliveries)).toEqual([first])
      park()
      await clock.pass(15_200)
      expect(sent.length).toBe(3)
    },
  )
})

describe('what is noted in the store', () => {
  test('at most once a minute, the last of each channel, and again after a failure', async () => {
    const { clock, sent, noted, control, open, commit } = carrying()
    const incarnation = open()
    commit(incarnation, messages(1, 20))
    await clock.pass(1)
    for (let mark = 1; mark <= 10; mark += 1) {
      sent[0]?.answer(taken(mark))
      await clock.pass(50)
    }
    control.notes = () => Promise.reject(new Error('not now'))
    await clock.pass(SAVE_MS)
    expect(noted).toEqual([[{ shardId: SOURCE, target: TARGET, acknowledged: 10 }]])
    control.notes = () => Promise.resolve()
    sent[0]?.answer(taken(11))
    await clock.pass(SAVE_MS)
    expect(noted.length).toBe(2)
    expect(noted[1]).toEqual([{ shardId: SOURCE, target: TARGET, acknowledged: 11 }])
    await clock.pass(2 * SAVE_MS)
    expect(noted.length).toBe(2)
  })

  test('acknowledgements that could not be stored are stored later, without new messages', async () => {
    const { clock, sent, noted, control, open, commit } = carrying()
    commit(open(), messages(1, 1))
    await clock.pass(1)
    sent[0]?.answer(taken(1))
    control.notes = () => Promise.reject(new Error('not now'))
    await clock.pass(SAVE_MS + 100)
    control.notes = () => Promise.resolve()
    await clock.pass(SAVE_MS + 100)
    expect(noted.map((channels) => channels.map(({ acknowledged }) => acknowledged))).toEqual([[1], [1]])
  })
})

describe('what cannot be', () => {
  test('V4: more acknowledged than the store knows to be sent: nothing more of the channel is carried', async () => {
    const { clock, sent, logged, courier, control, open, commit } = carrying()
    const incarnation = open()
    commit(incarnation, messages(1, 3))
    await clock.pass(1)
    control.sentTo = () => 3
    sent[0]?.answer(taken(5))
    await clock.pass(1)
    expect(logged).toEqual(['channel_stopped'])
    commit(incarnation, messages(4, 4))
    await clock.pass(LONG_MS)
    expect(sent.length).toBe(1)
    expect(courier.backlog(incarnation, TARGET)).toBe(4)
  })

  test.for([
    { name: 'the shard is another’s by now', sentTo: undefined },
    { name: 'the store knows of more', sentTo: 5 },
  ])('V4: more acknowledged than was sent from here, and $name: nothing follows', async ({ sentTo }) => {
    const { clock, sent, logged, control, open, commit } = carrying()
    commit(open(), messages(1, 3))
    await clock.pass(1)
    control.sentTo = () => sentTo
    sent[0]?.answer(taken(5))
    await clock.pass(LONG_MS)
    expect(control.asked).toBe(1)
    expect(logged).toEqual([])
    expect(numbersOf(sent.at(-1)?.deliveries)).toEqual([1, 2, 3])
    expect(sent.length).toBeGreaterThan(1)
  })

  test('V4: a receiver that has stopped the channel is believed', async () => {
    const { clock, sent, logged, open, commit } = carrying()
    commit(open(), messages(1, 3))
    await clock.pass(1)
    sent[0]?.answer({ source: SOURCE, target: TARGET, kind: 'stopped', mark: 1 })
    await clock.pass(LONG_MS)
    expect(logged).toEqual(['channel_stopped'])
    expect(sent.length).toBe(1)
  })
})

describe('what is larger than it was reckoned at', () => {
  /** A text of underestimated size. */
  const large = (target: number, number: number): OutboxMessage => ({
    target,
    number,
    envelope: {
      version: 1,
      to: groupAddress('0f8fad5b-d9cb-469f-a165-70867728950e'),
      message: {
        type: 'leg_expected',
        groupId: 'g',
        leg: number,
        role: 'own',
        refused: { code: 'class_exists', detail: 'x'.repeat(60_000) },
      },
      carries: [],
    },
  })

  test('is sent in parts and in order, and so is what comes with it', async () => {
    const { clock, sent, sessions, open, commit } = carrying(1_048_576)
    const targets = range(2, 20)
    for (const target of [...targets, 30]) sessions.set(target, 'other')
    commit(open(), [...targets.flatMap((target) => [large(target, 1), large(target, 2)]), ...messages(1, 1, 30)])
    await clock.pass(1)
    const carried = sent.flatMap(({ deliveries }) => deliveries)
    for (const target of targets) {
      expect(numbersOf(carried.filter((delivery) => delivery.target === target))).toEqual([1, 2])
    }
    expect(numbersOf(carried.filter(({ target }) => target === 30))).toEqual([1])
  })

  test('V6: a single message above the size limit parks its channel, and is logged once', async () => {
    const { clock, sent, sessions, logged, open, commit } = carrying(20_000)
    sessions.set(2, 'other').set(30, 'other')
    commit(open(), [...messages(1, 1, 2), large(2, 2), ...messages(3, 3, 2), ...messages(1, 1, 30)])
    await clock.pass(LONG_MS)
    const carried = sent.flatMap(({ deliveries }) => deliveries)
    const numbers = carried.filter(({ target }) => target === 2).flatMap((delivery) => numbersOf([delivery]))
    expect(numbers).toContain(1)
    expect(numbers).not.toContain(2)
    expect(carried.filter(({ target }) => target === 30).length).toBeGreaterThan(0)
    expect(logged).toEqual(['message_not_sent'])
  })
})

describe('the end of an incarnation', () => {
  test('its channels are forgotten, and what is heard of them later is nothing', async () => {
    const { clock, sent, courier, open, commit, end } = carrying()
    const incarnation = open()
    commit(incarnation, messages(1, 2))
    await clock.pass(1)
    end(incarnation)
    expect(courier.backlog(incarnation, TARGET)).toBe(0)
    sent[0]?.answer(taken(1))
    await clock.pass(LONG_MS)
    expect(sent.length).toBe(1)
  })

  test('a commit that is heard of after its incarnation ended leaves nothing behind for the next one', async () => {
    const { clock, sent, courier, open, commit, end } = carrying()
    const first = open()
    end(first)
    commit(first, messages(1, 1))
    const second = open({ channels: [{ target: TARGET, sent: 2, acknowledged: 0 }], outbox: messages(1, 2) }, 2)
    await clock.pass(1)
    expect(numbersOf(sent[0]?.deliveries)).toEqual([1, 2])
    commit(first, messages(1, 1))
    expect(courier.backlog(second, TARGET)).toBe(2)
  })
})
