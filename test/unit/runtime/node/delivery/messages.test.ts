/** I2, I3, I4: value sent between shards arrives once, also when their owners change. */
import { SAVE_MS } from '../../../../../runtime/node/delivery/courier.ts'
import { describe, expect, test } from 'vitest'
import { accountAddress, groupAddress } from '../../../../../actors/address.ts'
import type { Message } from '../../../../../actors/message.ts'
import type { ItemVerdict } from '../../../../../runtime/protocol/messages.ts'
import type { CommitBatch } from '../../../../../runtime/ports/ledger-store.ts'
import {
  applied,
  balanceIn,
  createLedger,
  credit,
  hosting,
  item,
  kinds,
  type Ledger,
  type Limits,
  marksIn,
  register,
  sendTo,
  startHost,
  submit,
  transfer,
} from '../../../../support/shard-hosting.ts'
import { deliveriesBody, deliveryFrom } from '../../../../support/bodies.ts'

const GROUP_ID = 'c4d1f6a0-1c5e-4b7e-9a53-2f6f1c9f7e10'

/** The node `one` with the account `a` and 10 on it, the node `two` with the account `b`. */
async function apart(limits: Limits = {}) {
  const ledger = createLedger([0, 1])
  const one = startHost(ledger, 'one', [0], limits)
  const two = startHost(ledger, 'two', [1], limits)
  const verdicts: ItemVerdict[] = []
  sendTo(one.host, verdicts, item(0, 'a', register), item(0, 'a', credit('a', 'first', undefined, '10')))
  sendTo(two.host, verdicts, item(1, 'b', register))
  await ledger.clock.pass(20)
  const send = (key: string) => sendTo(one.host, verdicts, item(0, 'a', transfer('a', 'b', key)))
  return { ...ledger, ledger, one, two, verdicts, send }
}

const balances = ({ rows }: Pick<Ledger, 'rows'>) => [balanceIn(rows, 'a'), balanceIn(rows, 'b')]
const statuses = ({ rows }: Pick<Ledger, 'rows'>, key: string) =>
  [...rows.transactions.values()]
    .filter((row) => row.transaction.idempotencyKey === key)
    .map((row) => row.transaction.status)

describe('messages between shards', () => {
  test('V1: between shards of one node they go without the transport, and only after the commit that sent them', async () => {
    const { clock, control, rows, batches, verdicts, send } = hosting([0, 1])
    control.carry = () => {
      throw new Error('the transport was used')
    }
    send(item(0, 'a', register), item(1, 'b', register))
    await clock.pass(10)
    send(item(0, 'a', credit('a', 'first', undefined, '10')))
    await clock.pass(10)
    let commit: () => void = () => undefined
    control.commit = (batch) => new Promise((resolve) => (commit = () => resolve(applied(batch))))
    send(item(0, 'a', transfer('a', 'b', 't')))
    await clock.pass(100)
    expect(marksIn(batches, 1, 0)).toEqual([])
    control.commit = applied
    commit()
    await clock.pass(100)
    expect(marksIn(batches, 1, 0)).toEqual([1])
    expect(balances({ rows })).toEqual(['9', '1'])
    expect(statuses({ rows }, 't')).toEqual(['completed'])
    expect(kinds(verdicts).at(-1)).toBe('accepted')
    expect([...rows.value.unbalanced()]).toEqual([])
  })

  test('I2: a commit that is answered after its shard was dropped leaves the shard’s next incarnation its messages', async () => {
    const world = await apart()
    const { clock, control, one, send } = world
    let commit: () => void = () => undefined
    control.commit = (batch) => new Promise((resolve) => (commit = () => resolve(applied(batch))))
    send('t1')
    await clock.pass(20)
    one.host.drop(0)
    control.commit = applied
    commit()
    await clock.pass(1)
    await one.serve(0)
    await clock.pass(1_000)
    expect(balances(world)).toEqual(['9', '1'])
  })

  test('what is carried is noted in the store: the next owner does not carry it again', async () => {
    const world = await apart()
    const { clock, control, send, ledger, one } = world
    for (const key of ['t1', 't2']) send(key)
    await clock.pass(SAVE_MS + 500)
    const carried: string[] = []
    control.carry = (subject) => {
      carried.push(subject)
      return 'carried'
    }
    one.host.drop(0)
    await startHost(ledger, 'three', []).serve(0)
    await clock.pass(1_000)
    expect(carried).toEqual([])
  })

  test('H5: while too much of a shard is not taken in, its submissions are overloaded; then they are not', async () => {
    const { clock, control, verdicts, send } = await apart({ maxOutbox: 2 })
    control.carry = () => 'lost'
    for (const key of ['t1', 't2', 't3']) {
      send(key)
      await clock.pass(10)
    }
    expect(kinds(verdicts).slice(3)).toEqual(['accepted', 'accepted', 'overloaded'])
    control.carry = () => 'carried'
    await clock.pass(2_000)
    send('t3')
    await clock.pass(10)
    expect(kinds(verdicts).at(-1)).toBe('accepted')
  })

  test('an item that was sent to another shard than its actor’s is refused, and looks at nothing', async () => {
    const { clock, questions, verdicts, item: itemOf, send } = hosting([0, 1])
    send(
      itemOf(0, 'b', register),
      itemOf(1, groupAddress('a0'), { kind: 'revert_group', reason: 'r', transactions: [] }),
    )
    await clock.pass(10)
    expect(kinds(verdicts)).toEqual(['wrong_shard', 'wrong_shard'])
    expect(questions).toEqual([])
  })
})

describe('a leg and what undoes it', () => {
  const name = { groupId: GROUP_ID, leg: 0, role: 'own' } as const
  const termsHash = 'ab'.repeat(32)
  const terms = {
    accountId: 'a',
    type: 'debit',
    amount: '4',
    tokenId: 'BASE',
    toAccountId: null,
    boundary: true,
  } as const

  test('in one mailbox, they are two batches: a row is written before it is changed', async () => {
    const { clock, control, host, rows, batches, logged, verdicts, send } = hosting([0])
    const deliver = (number: number, message: Message) =>
      host.receiveDeliveries(
        deliveriesBody([
          deliveryFrom(2, [{ number, envelope: { version: 1, to: accountAddress('a'), message, carries: [] } }], {
            began: number,
            acknowledged: number - 1,
          }),
        ]),
        () => undefined,
      )
    send(item(0, 'a', register), item(0, 'a', credit('a', 'first', undefined, '10')))
    await clock.pass(10)
    deliver(1, { type: 'expect_leg', ...name, termsHash, terms, clientId: 'client', dueAtMs: 900_000 })
    await clock.pass(10)
    let commit: () => void = () => undefined
    control.commit = (batch: CommitBatch) => new Promise((resolve) => (commit = () => resolve(applied(batch))))
    send(item(0, 'a', credit('a', 'between')))
    await clock.pass(5)
    const fields = { account_id: 'a', amount: '4', type: 'debit', group_id: GROUP_ID, idempotency_key: 'leg' }
    send(item(0, 'a', submit({ ...fields, terms_hash: `sha256:${termsHash}` })))
    deliver(2, { type: 'revert_leg', ...name })
    send(item(0, 'a', credit('a', 'after')))
    await clock.pass(5)
    control.commit = applied
    commit()
    await clock.pass(100)
    expect(logged).toEqual([])
    expect(kinds(verdicts)).toEqual(['registered', 'accepted', 'accepted', 'accepted', 'accepted'])
    expect(balanceIn(rows, 'a')).toBe('12')
    expect(marksIn(batches, 0, 2)).toEqual([1, 2])
    const undone = [...rows.transactions.values()].find((row) => row.transaction.idempotencyKey === 'leg')
    expect(undone?.compensatedBy).not.toBeNull()
  })
})
