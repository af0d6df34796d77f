/** P1, P2: a command sees the rows of its look-up and all commits since. */
import { describe, expect, test } from 'vitest'
import { accountAddress, tokenAddress } from '../../../../../actors/address.ts'
import {
  arriving,
  balanceIn,
  hosting,
  item,
  kinds,
  receiptOf,
  answersOf,
  register,
  registerToken,
  submit,
  transfer,
} from '../../../../support/shard-hosting.ts'
import { deliveriesBody, deliveryFrom } from '../../../../support/bodies.ts'

const GROUP_ID = 'c4d1f6a0-1c5e-4b7e-9a53-2f6f1c9f7e10'
/** Every command gets a batch of its own, though one look-up has asked for all of them. */
const ONE_A_BATCH = { maxBatchBytes: 1 }

const fields = (type: string, key: string, amount = '10') => ({
  account_id: 'a',
  amount,
  type,
  group_id: GROUP_ID,
  idempotency_key: key,
})

describe('what has committed since a look-up was sent', () => {
  test('a compensation that is asked for twice within one look-up undoes once', async () => {
    const { clock, host, rows, batches, verdicts, send } = hosting([0], ONE_A_BATCH)
    send(item(0, 'a', register))
    await clock.pass(10)
    send(item(0, 'a', submit(fields('credit', 'first'))), item(0, 'a', submit(fields('credit', 'second'))))
    await clock.pass(20)
    const txnId = receiptOf(answersOf(verdicts)[1])?.txnId ?? ''
    const messages = [1, 2].map((number) => ({
      number,
      envelope: {
        version: 1,
        to: accountAddress('a'),
        message: { type: 'compensate', groupId: GROUP_ID, compensates: txnId, asked: `${txnId} ${number}` },
        carries: [],
      } as const,
    }))
    const before = batches.length
    host.receiveDeliveries(deliveriesBody([deliveryFrom(2, messages, { began: 2 })]), () => undefined)
    await clock.pass(50)
    expect(host.refused()).toEqual([])
    expect(balanceIn(rows, 'a')).toBe('10')
    const outcomes = batches
      .slice(before)
      .map(({ shards }) => shards.flatMap(({ outbox }) => outbox.map(({ envelope }) => envelope.message)))
    expect(outcomes).toMatchObject([
      [{ type: 'compensation_ended', outcome: { kind: 'done' } }],
      [{ type: 'compensation_ended', outcome: { kind: 'failed', failure: { code: 'already_compensated' } } }],
    ])
  })

  test('what was done under a group ID counts for who was looked up with it', async () => {
    const { clock, batches, verdicts, send } = hosting([0], ONE_A_BATCH)
    send(item(0, 'a', register), item(0, 'a2', register))
    await clock.pass(20)
    const before = batches.length
    send(
      item(0, 'a', submit(fields('credit', 'first'))),
      item(0, 'a', submit({ ...fields('transfer', 'back', '1'), to_account_id: 'a2' })),
    )
    await clock.pass(50)
    expect(kinds(verdicts).slice(2)).toEqual(['accepted', 'self_transfer'])
    expect(batches.length - before).toBe(2)
  })
})

describe('what needs no look-up', () => {
  const arrives = (number: number, accountId: string) => arriving(number, accountId, GROUP_ID)
  const deliver = (host: ReturnType<typeof hosting>['host'], ...messages: ReturnType<typeof arrives>[]) => {
    host.receiveDeliveries(deliveriesBody([deliveryFrom(1, messages)]), () => undefined)
  }

  test('K4: a message for an actor in memory is taken in though a look-up of another shard never ends', async () => {
    const { clock, control, rows, send, host } = hosting([0, 1])
    send(item(0, 'a', register))
    await clock.pass(20)
    control.lookUps = new Promise(() => undefined)
    send(item(1, 'b', register))
    deliver(host, arrives(1, 'a'))
    await clock.pass(20)
    expect(balanceIn(rows, 'a')).toBe('1')
  })

  test('K1, K4: it stays behind a command of its own shard that is being looked up', async () => {
    const { clock, control, rows, send, host } = hosting([0, 1])
    send(item(0, 'a', register))
    await clock.pass(20)
    let answer: () => void = () => undefined
    control.lookUps = new Promise((resolve) => (answer = resolve))
    send(item(0, 'a', submit(fields('credit', 'k1'))))
    await clock.pass(5)
    deliver(host, arrives(1, 'a'))
    await clock.pass(20)
    expect(balanceIn(rows, 'a')).toBe('0')
    answer()
    await clock.pass(20)
    expect(balanceIn(rows, 'a')).toBe('11')
  })
})

describe('facts of any shard', () => {
  test('an absent account is not remembered; an existing one is not looked up again', async () => {
    const { clock, questions, verdicts, send } = hosting([0, 1])
    const pay = async (key: string) => {
      send(item(0, 'a', transfer('a', 'b', key)))
      await clock.pass(20)
      return questions.at(-1)?.existing.length
    }
    send(item(0, 'a', register))
    await clock.pass(20)
    expect(await pay('t1')).toBe(1)
    send(item(1, 'b', register))
    await clock.pass(20)
    expect(await pay('t2')).toBe(1)
    expect(await pay('t3')).toBe(0)
    expect(kinds(verdicts)).toEqual(['registered', 'receiver_not_found', 'registered', 'accepted', 'accepted'])
  })

  test('an absent token is not remembered; an existing one is; one that is being registered counts as absent', async () => {
    const { clock, control, questions, verdicts, send } = hosting([0, 1])
    let serial = 0
    const pay = async (tokenId: string) => {
      serial += 1
      const order = { account_id: 'a', amount: '1', type: 'debit', token_id: tokenId, idempotency_key: `t${serial}` }
      send(item(0, 'a', submit(order)))
      await clock.pass(20)
      return [kinds(verdicts).at(-1), questions.at(-1)?.tokens.length]
    }
    send(item(0, 'a', register))
    await clock.pass(20)
    expect(await pay('Bond')).toEqual(['token_not_found', 1])
    // The home of its issuer does not reply.
    control.carry = () => 'lost'
    send(item(1, tokenAddress('Bond'), registerToken('Bond', 'c')))
    await clock.pass(20)
    expect(await pay('Bond')).toEqual(['token_not_found', 1])
    expect(await pay('Acre')).toEqual(['token_not_found', 1])
    send(item(0, tokenAddress('Acre'), registerToken('Acre', 'b')))
    await clock.pass(100)
    expect(kinds(verdicts).at(-1)).toBe('token_registered')
    expect(await pay('Acre')).toEqual(['accepted', 1])
    expect(await pay('Acre')).toEqual(['accepted', 0])
    // A symbol is found whatever its case, and is that token only as it was registered.
    expect(await pay('ACRE')).toEqual(['token_not_found', 1])
  })
})
