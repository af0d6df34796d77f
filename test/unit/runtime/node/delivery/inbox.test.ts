/** R1 to R4: each message is handled once and in order, though messages are lost, doubled or late and commits fail. */
import { describe, expect, test } from 'vitest'
import { accountAddress } from '../../../../../actors/address.ts'
import type { DeliveredMessage, Delivery, DeliveryAnswer } from '../../../../../runtime/protocol/messages.ts'
import { inboxOrder } from '../../../../../runtime/node/shard/draft.ts'
import { Inbox } from '../../../../../runtime/node/delivery/inbox.ts'
import { Incarnation } from '../../../../../runtime/node/shard/incarnation.ts'
import type { Pending } from '../../../../../runtime/node/shard/pending-command.ts'
import { POISON } from '../../../../simulation/store/rows.ts'
import { START_MS } from '../../../../support/accounts.ts'
import { createManualClock } from '../../../../support/manual-clock.ts'
import {
  applied,
  balanceIn,
  credit,
  hosting,
  item,
  kinds,
  marksIn,
  register,
} from '../../../../support/shard-hosting.ts'
import { WIRE } from '../../../../../runtime/protocol/wire.ts'
import { NO_RARE_PATHS } from '../../../../../runtime/ports/rare-paths.ts'
import { deliveryAnswersIn, deliveriesBody } from '../../../../support/bodies.ts'

const SOURCE = 2
const TARGET = 0

/** A transfer to the account `a` from one of the source's. */
function message(number: number, metadata: Record<string, string> | null = null): DeliveredMessage {
  return {
    number,
    envelope: {
      version: 1,
      to: accountAddress('a'),
      message: {
        type: 'receive_transfer',
        txnId: `txn_${number}`,
        fromAccountId: 'c',
        tokenId: 'BASE',
        amount: `${number}`,
        groupId: null,
        metadata,
        expiresAtMs: null,
        compensates: null,
      },
      carries: [],
    },
  }
}

const delivery = (numbers: readonly number[], changes: Partial<Delivery> = {}): Delivery => ({
  source: SOURCE,
  target: TARGET,
  epoch: 1,
  attempt: 0,
  began: 0,
  acknowledged: 0,
  messages: numbers.map((number) => message(number)),
  ...changes,
})

function receiving(mark = 0) {
  const entered: number[] = []
  const answers: DeliveryAnswer[] = []
  const logged: string[] = []
  const marks = mark === 0 ? [] : [{ source: SOURCE, mark }]
  const start = { lastTransactionId: null, channels: [], outbox: [], marks }
  const incarnation = new Incarnation({ shardId: TARGET, epoch: 1, attempt: 0 }, start)
  const control: { serves: Incarnation | undefined; mark: number | undefined } = {
    serves: incarnation,
    mark: undefined,
  }
  const inbox = new Inbox({
    clock: createManualClock(START_MS),
    random: { hex: (size) => '0'.repeat(size * 2), integer: () => 0 },
    log: { info: () => undefined, warn: () => undefined, error: (event) => void logged.push(event) },
    rare: NO_RARE_PATHS,
    wire: WIRE,
    inboxOrder,
    find: () => control.serves,
    confirmed: () => Promise.resolve(),
    enter: ({ origin }: Pending) => void (origin.kind === 'message' && entered.push(origin.number)),
    markOf: () => Promise.resolve(control.mark),
  })
  const receive = (...deliveries: Delivery[]) => inbox.receive(deliveries, (given) => answers.push(...given))
  return { inbox, incarnation, entered, answers, logged, control, receive }
}

const answer = (kind: DeliveryAnswer['kind'], mark: number): DeliveryAnswer => ({
  source: SOURCE,
  target: TARGET,
  kind,
  mark,
})

describe('what is taken in', () => {
  test('R1: exactly the one after the last; what was there before, and what comes after a gap, is not', () => {
    const { entered, receive } = receiving(4)
    receive(delivery([3, 4, 5, 6]), delivery([5, 6]), delivery([8, 9]))
    expect(entered).toEqual([5, 6])
    receive(delivery([7, 8]))
    expect(entered).toEqual([5, 6, 7, 8])
  })

  test('R1: each source has numbers of its own', () => {
    const { entered, receive } = receiving(4)
    receive(delivery([1, 2], { source: 3 }), delivery([5]))
    expect(entered).toEqual([1, 2, 5])
  })

  test('R2: nothing is said of what has only entered; the mark is said when it is committed, to who asked last', () => {
    const { inbox, incarnation, answers, receive } = receiving()
    const first: DeliveryAnswer[] = []
    inbox.receive([delivery([1, 2])], (given) => first.push(...given))
    receive(delivery([1, 2]))
    expect([first, answers]).toEqual([[], []])
    inbox.committed([{ incarnation, marks: new Map([[SOURCE, 2]]) }])
    expect([first, answers]).toEqual([[], [answer('taken', 2)]])
  })

  test('R2: one message acknowledges everything that a batch has taken in, from any source', () => {
    const { inbox, incarnation } = receiving()
    const heard: (readonly DeliveryAnswer[])[] = []
    inbox.receive([delivery([1, 2]), delivery([1], { source: 3 })], (given) => heard.push(given))
    const marks = (source: number, mark: number) => ({ incarnation, marks: new Map([[source, mark]]) })
    inbox.committed([marks(SOURCE, 2), marks(3, 1)])
    expect(heard).toEqual([[answer('taken', 2), { ...answer('taken', 1), source: 3 }]])
  })

  test('R2: a source that does not know what is committed gets a reply at once, though it brings nothing new', () => {
    const { answers, entered, receive } = receiving(4)
    receive(delivery([1, 2], { acknowledged: 0 }), delivery([], { acknowledged: 4 }))
    expect(answers).toEqual([answer('taken', 4)])
    expect(entered).toEqual([])
  })

  test('what is not served here, or no longer taken, has moved', () => {
    const { incarnation, answers, entered, control, receive } = receiving()
    incarnation.phase = 'draining'
    receive(delivery([1]))
    control.serves = undefined
    receive(delivery([1]))
    expect(answers).toEqual([answer('moved', 0), answer('moved', 0)])
    expect(entered).toEqual([])
  })

  test('an ended incarnation sends no reply', () => {
    const { inbox, incarnation, answers, receive } = receiving()
    receive(delivery([1]))
    inbox.close(incarnation)
    inbox.committed([{ incarnation, marks: new Map([[SOURCE, 1]]) }])
    expect(answers).toEqual([])
  })

  test('R4: told more than the store knows to be taken in, nothing more of that source is taken', async () => {
    const { answers, entered, logged, control, receive } = receiving(4)
    control.mark = 4
    receive(delivery([7], { acknowledged: 6 }))
    await Promise.resolve().then(() => undefined)
    receive(delivery([5]), delivery([1], { source: 3 }))
    expect(answers).toEqual([answer('moved', 4), answer('stopped', 4)])
    expect(logged).toEqual(['channel_stopped'])
    expect(entered).toEqual([1])
  })

  test('R4: an incarnation that begins with less than was taken in of the one before stops its source', async () => {
    const { answers, entered, logged, control, receive } = receiving(4)
    control.mark = 6
    receive(delivery([5, 6], { began: 4, acknowledged: 4 }))
    control.serves?.marks.set(SOURCE, 6)
    // A later incarnation of a store that went back numbers anew what was numbered before.
    receive(delivery([5, 6, 7], { epoch: 2, began: 4, acknowledged: 4 }))
    await Promise.resolve().then(() => undefined)
    receive(delivery([5, 6, 7], { epoch: 2, began: 4, acknowledged: 4 }))
    expect(answers).toEqual([answer('moved', 6), answer('stopped', 6)])
    expect(logged).toEqual(['channel_stopped'])
    expect(entered).toEqual([5, 6])
  })

  test('R4: a late delivery of an earlier incarnation, and messages of a later one, stop no channel', async () => {
    const { answers, entered, logged, control, receive } = receiving(4)
    control.mark = 6
    receive(delivery([5], { epoch: 2, began: 4, acknowledged: 4 }))
    control.serves?.marks.set(SOURCE, 5)
    receive(delivery([4], { epoch: 1, began: 3, acknowledged: 3 }))
    receive(delivery([6], { epoch: 2, began: 4, acknowledged: 5 }))
    receive(delivery([7], { epoch: 3, began: 6, acknowledged: 5 }))
    await Promise.resolve().then(() => undefined)
    expect(answers).toEqual([answer('taken', 5)])
    expect(logged).toEqual([])
    expect(entered).toEqual([5, 6, 7])
  })

  test('R4: what a later incarnation sends while the store is asked does not make it suspect', async () => {
    const { entered, logged, control, receive } = receiving(4)
    receive(delivery([5, 6], { began: 4, acknowledged: 4 }))
    // Committed, and not heard of here yet: the source has read it from the store.
    control.mark = 6
    receive(delivery([7], { attempt: 1, began: 6, acknowledged: 6 }))
    control.serves?.marks.set(SOURCE, 6)
    receive(delivery([7], { attempt: 1, began: 6, acknowledged: 6 }))
    await Promise.resolve().then(() => undefined)
    receive(delivery([8], { attempt: 1, began: 6, acknowledged: 6 }))
    expect(logged).toEqual([])
    expect(entered).toEqual([5, 6, 7, 8])
  })

  test('R4: an old owner of the source that is heard first does not make its successor suspect', async () => {
    const { answers, entered, logged, control, receive } = receiving(6)
    control.mark = 6
    receive(delivery([3], { epoch: 1, began: 2, acknowledged: 2 }))
    // An earlier owner of the target had consumed its successor's messages 5 and 6.
    receive(delivery([6, 7], { epoch: 2, began: 4, acknowledged: 5 }))
    await Promise.resolve().then(() => undefined)
    receive(delivery([8], { epoch: 2, began: 4, acknowledged: 6 }))
    expect(logged).toEqual([])
    expect(answers.map(({ kind }) => kind)).toEqual(['taken', 'taken'])
    expect(entered).toEqual([7, 8])
  })

  test.for([
    { name: 'the shard is another’s', mark: undefined },
    { name: 'the store knows as much', mark: 6 },
  ])('R4: told more than is known here, and $name: it has moved, and that is all', async ({ mark }) => {
    const { answers, logged, control, receive } = receiving(4)
    control.mark = mark
    receive(delivery([7], { acknowledged: 6 }))
    await Promise.resolve().then(() => undefined)
    receive(delivery([7], { acknowledged: 6 }))
    expect(answers).toEqual([answer('moved', 4), answer('moved', 4)])
    expect(logged).toEqual([])
  })
})

/** A host that serves the account `a`, and a source that delivers to it. */
async function taking() {
  const hosted = hosting([0, 1])
  const answers: DeliveryAnswer[] = []
  const deliver = (...deliveries: Delivery[]) =>
    hosted.host.receiveDeliveries(deliveriesBody(deliveries), (reply) => answers.push(...deliveryAnswersIn(reply)))
  hosted.send(item(0, 'a', register), item(1, 'b', register))
  await hosted.clock.pass(10)
  return { ...hosted, answers, deliver }
}

const ONE_TO_FOUR = delivery([1, 2, 3, 4])

describe('a host that takes messages in', () => {
  test('R2: it acknowledges after the commit, which holds the mark too', async () => {
    const { clock, control, rows, batches, answers, deliver } = await taking()
    let commit: () => void = () => undefined
    control.commit = (batch) => new Promise((resolve) => (commit = () => resolve(applied(batch))))
    deliver(ONE_TO_FOUR)
    await clock.pass(100)
    deliver(ONE_TO_FOUR)
    await clock.pass(100)
    expect(answers).toEqual([])
    commit()
    await clock.pass(10)
    expect(answers).toEqual([answer('taken', 4)])
    expect(balanceIn(rows, 'a')).toBe('10')
    expect(marksIn(batches, TARGET, SOURCE)).toEqual([4])
  })

  test('after a failed commit messages are stepped again, in order and once', async () => {
    const { clock, control, rows, host, answers, deliver } = await taking()
    let failures = 3
    control.commit = (batch) =>
      (failures -= 1) >= 0 ? { kind: 'failed', cause: failures > 1 ? 'transient' : 'data', detail: '' } : applied(batch)
    deliver(ONE_TO_FOUR)
    await clock.pass(20)
    deliver(delivery([1, 2, 3, 4, 5]))
    await clock.pass(200)
    expect(host.refused()).toEqual([])
    expect(balanceIn(rows, 'a')).toBe('15')
    expect(answers.at(-1)).toEqual(answer('taken', 5))
  })

  test('R5: a message that cannot be stored parks only its channel', async () => {
    const { clock, host, verdicts, rows, answers, logged, send, deliver } = await taking()
    const poisoned = { ...ONE_TO_FOUR, messages: [message(1), message(2, { note: POISON }), message(3)] }
    send(item(1, 'b', credit('b', 'b1')), item(0, 'a', credit('a', 'a1')))
    deliver(poisoned)
    await clock.pass(200)
    deliver(poisoned)
    send(item(0, 'a', credit('a', 'a2')))
    await clock.pass(200)
    expect(host.refused()).toEqual([])
    expect(kinds(verdicts)).toEqual(['registered', 'registered', 'accepted', 'accepted', 'accepted'])
    // The first message, and the two credits.
    expect(balanceIn(rows, 'a')).toBe('3')
    expect(answers).toContainEqual(answer('taken', 1))
    expect(answers).toContainEqual(answer('parked', 1))
    expect(logged.filter(({ event }) => event === 'channel_parked')).toEqual([
      {
        event: 'channel_parked',
        fields: expect.objectContaining({ shard: 0, source: 2, message: 2, stage: 'commit' }),
      },
    ])
    expect(host.backlog()).toBe(0)
  })

  test.for([{ happened: 'applied' }, { happened: 'lost' }])(
    'after an unknown outcome that was $happened messages are taken in when they are sent again, once',
    async ({ happened }) => {
      const { clock, loseReply, rows, host, answers, deliver } = await taking()
      loseReply(happened === 'applied')
      deliver(ONE_TO_FOUR)
      await clock.pass(5)
      // Numbers that enter between the unknown outcome and what follows from it go with the rest.
      deliver(delivery([1, 2, 3, 4, 5, 6]))
      await clock.pass(100)
      expect(answers).toEqual([])
      expect(balanceIn(rows, 'a')).toBe(happened === 'applied' ? '10' : '0')
      deliver(delivery([1, 2, 3, 4, 5, 6]))
      await clock.pass(100)
      expect(host.refused()).toEqual([])
      expect(balanceIn(rows, 'a')).toBe('21')
      expect(answers.at(-1)).toEqual(answer('taken', 6))
      expect(host.backlog()).toBe(0)
    },
  )

  test('R4: an owner whose store went back stops the source, and goes on with the others', async () => {
    const { clock, rows, logged, answers, deliver } = await taking()
    deliver(delivery([8], { acknowledged: 7 }))
    await clock.pass(5)
    deliver(delivery([1]), delivery([1], { source: 3 }))
    await clock.pass(20)
    expect(answers.slice(1)).toEqual([answer('stopped', 0), { ...answer('taken', 1), source: 3 }])
    expect(logged.map(({ event }) => event)).toEqual(['channel_stopped'])
    expect(balanceIn(rows, 'a')).toBe('1')
  })

  test('H5: submissions that fill the mailbox leave messages their way', async () => {
    const { clock, control, rows, verdicts, send, deliver } = await taking()
    let letGo: () => void = () => undefined
    control.lookUps = new Promise((resolve) => (letGo = resolve))
    send(...Array.from({ length: 200 }, (_, index) => item(0, 'a', credit('a', `k${index}`))))
    await clock.pass(10)
    expect(kinds(verdicts).filter((kind) => kind === 'overloaded').length).toBe(100)
    deliver(ONE_TO_FOUR)
    letGo()
    await clock.pass(50)
    expect(balanceIn(rows, 'a')).toBe('110')
  })
})
