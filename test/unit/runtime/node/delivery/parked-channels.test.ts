/** R5, V6: a message whose handling throws stops only its own channel, at every owner, without loss. */
import { describe, expect, test } from 'vitest'
import { BrokenInvariant } from '../../../../../actors/result.ts'
import { type StepActor, stepActor } from '../../../../../actors/step-actor.ts'
import type { DeliveryAnswer } from '../../../../../runtime/protocol/messages.ts'
import { PARKED_RETRY_MS } from '../../../../../runtime/node/recovery/containment.ts'
import {
  arriving,
  balanceIn,
  createLedger,
  credit,
  hosting,
  item,
  kinds,
  type Logged,
  register,
  sendTo,
  startHost,
  transfer,
} from '../../../../support/shard-hosting.ts'
import { carrying, messages, numbersOf, SOURCE, TARGET, taken } from './courier-fixture.ts'
import { deliveryAnswersIn, deliveriesBody, deliveryFrom } from '../../../../support/bodies.ts'

const SOURCE_SHARD = 3
const OTHER_SHARD = 2

/** A step that throws on some messages while enabled. */
function throwing(error: Error = new TypeError('no such field')) {
  const fault = { on: true, tried: 0, txnId: 'txn_3' }
  const step: StepActor = (actor, state, command, evidence) => {
    if (command.type === 'receive_transfer' && command.txnId === fault.txnId && fault.on) {
      fault.tried += 1
      throw error
    }
    return stepActor(actor, state, command, evidence)
  }
  return { fault, step }
}

const parkedLines = (logged: readonly Logged[]) => logged.filter(({ event }) => event === 'channel_parked')

async function taking(watched: Parameters<typeof hosting>[2]) {
  const hosted = hosting([0, 1], {}, watched)
  const answers: DeliveryAnswer[] = []
  const deliver = (source: number, numbers: readonly number[]) =>
    hosted.host.receiveDeliveries(
      deliveriesBody([
        deliveryFrom(
          source,
          numbers
            .map((number) => arriving(source === SOURCE_SHARD ? number : number + 100, 'a'))
            .map(({ envelope }, index) => ({ number: numbers[index] ?? 0, envelope })),
        ),
      ]),
      (reply) => answers.push(...deliveryAnswersIn(reply)),
    )
  hosted.send(item(0, 'a', register), item(1, 'b', register))
  await hosted.clock.pass(10)
  return { ...hosted, answers, deliver }
}

describe('a message whose handling throws', () => {
  test.for([{ error: new TypeError('no such field') }, { error: new BrokenInvariant('no such order') }])(
    'R5: parks its channel for any exception: $error.name; earlier messages, other channels and requests continue',
    async ({ error }) => {
      const { fault, step } = throwing(error)
      const { clock, host, rows, answers, logged, verdicts, deliver, send } = await taking({ step })
      send(item(0, 'a', credit('a', 'k1')))
      deliver(SOURCE_SHARD, [1, 2, 3, 4])
      deliver(OTHER_SHARD, [1])
      await clock.pass(50)
      deliver(OTHER_SHARD, [2])
      send(item(0, 'a', credit('a', 'k2')))
      await clock.pass(50)
      expect(kinds(verdicts).slice(2)).toEqual(['accepted', 'accepted'])
      expect(balanceIn(rows, 'a')).toBe('6')
      expect(answers).toContainEqual({ source: SOURCE_SHARD, target: 0, kind: 'parked', mark: expect.any(Number) })
      expect(answers.filter(({ source }) => source === SOURCE_SHARD).at(-1)?.mark).toBe(2)
      expect(host.refused()).toEqual([])
      expect(host.backlog()).toBe(0)
      expect(fault.tried).toBe(1)
      expect(parkedLines(logged).map(({ fields }) => fields)).toEqual([
        {
          shard: 0,
          source: SOURCE_SHARD,
          message: 3,
          stage: 'step',
          cause: expect.stringContaining(error instanceof BrokenInvariant ? 'no such order' : 'TypeError at '),
        },
      ])
    },
  )

  test('R5: is tried once with each delivery and logged once; after it is consumed, later messages follow', async () => {
    const { fault, step } = throwing()
    const { clock, rows, answers, logged, deliver } = await taking({ step })
    for (let times = 1; times <= 3; times += 1) {
      deliver(SOURCE_SHARD, [1, 2, 3, 4])
      await clock.pass(50)
      expect(fault.tried).toBe(times)
    }
    expect(parkedLines(logged)).toHaveLength(1)
    fault.on = false
    deliver(SOURCE_SHARD, [3, 4])
    await clock.pass(50)
    expect(balanceIn(rows, 'a')).toBe('4')
    expect(answers.at(-1)).toMatchObject({ kind: 'taken', mark: 4 })
    expect(logged.filter(({ event }) => event === 'channel_resumed')).toHaveLength(1)
  })

  test('R5: does not harm the next owner, which serves the shard and parks the channel again', async () => {
    const ledger = createLedger([0, SOURCE_SHARD])
    const { fault, step } = throwing()
    const first = startHost(ledger, 'first', [0, SOURCE_SHARD], {}, { step })
    const verdicts: Parameters<typeof sendTo>[1] = []
    sendTo(first.host, verdicts, item(0, 'a', register), item(SOURCE_SHARD, 'd', register))
    await ledger.clock.pass(10)
    sendTo(first.host, verdicts, item(SOURCE_SHARD, 'd', credit('d', 'k', undefined, '10')))
    await ledger.clock.pass(10)
    Object.assign(fault, { txnId: null })
    const isFirst: StepActor = (actor, state, command, evidence) => {
      if (command.type === 'receive_transfer' && fault.on) throw new TypeError('no such field')
      return stepActor(actor, state, command, evidence)
    }
    const second = startHost(ledger, 'second', [], {}, { step: isFirst })
    await second.serve(0)
    sendTo(first.host, verdicts, item(SOURCE_SHARD, 'd', transfer('d', 'a', 't')))
    await ledger.clock.pass(1_000)
    const third = startHost(ledger, 'third', [], {}, { step: isFirst })
    await third.serve(0)
    await ledger.clock.pass(2 * PARKED_RETRY_MS)
    expect([second.host.refused(), third.host.refused()]).toEqual([[], []])
    expect(third.host.serving().has(0)).toBe(true)
    expect(parkedLines(ledger.logged)).toHaveLength(2)
    sendTo(third.host, verdicts, item(0, 'a', credit('a', 'k'), { epoch: 3 }))
    await ledger.clock.pass(10)
    expect(kinds(verdicts).at(-1)).toBe('accepted')
    expect(balanceIn(ledger.rows, 'a')).toBe('1')
    fault.on = false
    await ledger.clock.pass(PARKED_RETRY_MS)
    expect(balanceIn(ledger.rows, 'a')).toBe('2')
    expect(balanceIn(ledger.rows, 'd')).toBe('9')
  })
})

describe('a courier whose channel is parked', () => {
  const parked = (mark: number): DeliveryAnswer => ({ source: SOURCE, target: TARGET, kind: 'parked', mark })

  test('V6: later sends the next message alone, and the rest once that one is consumed', async () => {
    const { clock, sent, courier, logged, open, commit } = carrying()
    const incarnation = open()
    commit(incarnation, messages(1, 10))
    await clock.pass(1)
    sent[0]?.answer(parked(4))
    commit(incarnation, messages(11, 12))
    await clock.pass(PARKED_RETRY_MS - 100)
    expect(sent).toHaveLength(1)
    expect(courier.backlog(incarnation, TARGET)).toBe(8)
    await clock.pass(200)
    expect(sent.slice(1).map(({ deliveries }) => numbersOf(deliveries))).toEqual([[5]])
    sent[1]?.answer(parked(4))
    await clock.pass(PARKED_RETRY_MS + 200)
    expect(sent.slice(2).map(({ deliveries }) => numbersOf(deliveries))).toEqual([[5]])
    sent[2]?.answer(taken(5))
    await clock.pass(1)
    expect(numbersOf(sent[3]?.deliveries)).toEqual([6, 7, 8, 9, 10, 11, 12])
    expect(logged).toEqual([])
  })
})
