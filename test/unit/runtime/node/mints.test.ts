/** D7, I10, I12: the commit that decides a mint answers all its requests. A replay gets the recorded reply. */
import { describe, expect, test } from 'vitest'
import { applied, item, sendTo, startHost } from '../../../support/shard-hosting.ts'
import { left, minting, TAKEN, told } from './mint-fixture.ts'

/** Requests that wait for one conclusion at most. */
const MOST_WAIT = 64

describe('a mint', () => {
  test('I10: is answered by the batch that decides it, once that is committed', async () => {
    const { clock, control, host, verdicts, batches, ask, deliver, decision } = await minting()
    const request = ask('once')
    await clock.pass(20)
    let commit: () => void = () => undefined
    control.commit = (batch) => new Promise((resolve) => (commit = () => resolve(applied(batch))))
    deliver(decision(0))
    await clock.pass(100)
    expect(verdicts).toEqual([])
    commit()
    await clock.pass(10)
    expect([...told(verdicts)]).toEqual([[request, 'ruby']])
    expect(left(batches)).toEqual({ transactions: 1, operations: 1 })
    expect(host.backlog()).toBe(0)
  })

  test('D7: repeats under its key wait with it; each reply says that it is a replay, and whether the body was the same', async () => {
    const { clock, verdicts, ask, asked, deliver, decision } = await minting()
    const [first, same, other] = [ask('once'), ask('once'), ask('once', { instance_id: 'opal' })]
    await clock.pass(20)
    const late = ask('once')
    await clock.pass(20)
    expect([verdicts, asked().length]).toEqual([[], 1])
    deliver(decision(0))
    await clock.pass(20)
    expect([...told(verdicts)]).toEqual([
      [first, 'ruby'],
      [same, 'ruby, replayed'],
      [other, 'ruby, another replayed'],
      [late, 'ruby, replayed'],
    ])
  })

  test('D7: a repeat in the very batch that decides it is a replay too, whichever comes first', async () => {
    const { clock, host, verdicts, ask, asked, deliver, decision, gather } = await minting()
    const first = ask('once')
    await clock.pass(20)
    const letGo = await gather()
    const before = ask('once', { instance_id: 'opal' })
    await clock.pass(5)
    deliver(decision(0))
    await clock.pass(5)
    const after = ask('once')
    await clock.pass(5)
    letGo()
    await clock.pass(50)
    const answers = told(verdicts)
    expect([first, before, after].map((request) => answers.get(request))).toEqual([
      'ruby',
      'ruby, another replayed',
      'ruby, replayed',
    ])
    expect([asked().length, host.backlog()]).toEqual([1, 0])
  })

  test('D7: all that wait get its refusal, whose commit frees the key: the next one begins anew', async () => {
    const { clock, verdicts, ask, asked, deliver, decision, gather } = await minting()
    const [first, second] = [ask('once'), ask('once')]
    await clock.pass(20)
    const letGo = await gather()
    deliver(decision(0, TAKEN))
    await clock.pass(5)
    const after = ask('once')
    await clock.pass(5)
    letGo()
    await clock.pass(20)
    const refused = told(verdicts)
    expect([first, second, after].map((request) => refused.get(request))).toEqual([
      'instance_exists',
      'instance_exists',
      undefined,
    ])
    expect(asked()).toHaveLength(2)
    deliver(decision(1))
    await clock.pass(20)
    expect(told(verdicts).get(after)).toBe('ruby')
  })

  test('is independent of mints under other keys of the account, in whatever order they end', async () => {
    const { clock, verdicts, ask, deliver, decision } = await minting()
    const [one, two, three] = [ask('one'), ask('two', { instance_id: 'opal' }), ask('three', { instance_id: 'jade' })]
    await clock.pass(20)
    deliver(decision(1, TAKEN))
    await clock.pass(20)
    expect([...told(verdicts)]).toEqual([[two, 'instance_exists']])
    deliver(decision(2, { code: 'account_closed', detail: 'Closed.' }))
    deliver(decision(0))
    await clock.pass(20)
    expect([...told(verdicts)].slice(1)).toEqual([
      [three, 'account_closed'],
      [one, 'ruby'],
    ])
  })

  test('D7: a repeat is answered from what was recorded, when memory has forgotten it, and changes nothing', async () => {
    const { clock, verdicts, batches, questions, ask, deliver, decision } = await minting()
    ask('once')
    await clock.pass(20)
    deliver(decision(0))
    await clock.pass(1_000)
    const asked = questions.length
    const again = ask('once', { instance_id: 'opal', owner: 'unknown' })
    await clock.pass(20)
    expect(questions.slice(asked)).toMatchObject([{ keys: [{ operation: 'mint', idempotencyKey: 'once' }] }])
    expect(told(verdicts).get(again)).toBe('ruby, another replayed')
    expect(left(batches)).toEqual({ transactions: 1, operations: 1 })
  })

  test(`is waited for by ${MOST_WAIT} requests; the next has not entered, and others are none the worse for it`, async () => {
    const { clock, host, verdicts, ask, deliver, decision } = await minting()
    for (let count = 1; count < MOST_WAIT; count += 1) ask('once')
    await clock.pass(20)
    ask('once')
    await clock.pass(20)
    expect(verdicts).toEqual([])
    const [refused, other] = [ask('once'), ask('twice', { instance_id: 'opal' })]
    await clock.pass(20)
    expect([...told(verdicts)]).toEqual([[refused, 'overloaded']])
    deliver(decision(1, TAKEN))
    deliver(decision(0))
    await clock.pass(20)
    expect(told(verdicts).get(other)).toBe('instance_exists')
    const waited = [...told(verdicts).values()].filter((answer) => answer.startsWith('ruby'))
    expect([waited.length, waited.filter((answer) => answer === 'ruby').length]).toEqual([MOST_WAIT, 1])
    expect(host.backlog()).toBe(0)
  })
})

describe('a mint without a reply here', () => {
  /** Another node has taken the shard. */
  async function takenOver() {
    const scene = await minting()
    const first = scene.ask('once')
    const other = scene.ask('twice', { instance_id: 'opal' })
    await scene.clock.pass(20)
    const next = startHost(scene, 't', [])
    const again = (requestId: string, key: string, attempt = 2): void =>
      sendTo(next.host, scene.verdicts, item(0, 'a', scene.operation(key), { requestId, attempt, epoch: 2 }))
    return { ...scene, next, again, first, other }
  }

  test('I12: as its shard is drained is undecided, and its next owner tells those that ask again how it ended', async () => {
    const { clock, host, verdicts, asked, deliver, decision, next, again, first, other } = await takenOver()
    const drained = host.drain(0, 1_000)
    await clock.pass(50)
    expect(await drained).toMatchObject({ shardId: 0, epoch: 1 })
    expect([...told(verdicts)]).toEqual([
      [first, 'undecided'],
      [other, 'undecided'],
    ])
    host.drop(0)
    await next.serve(0)
    again(first, 'once')
    await clock.pass(20)
    expect(told(verdicts).get(first)).toBe('undecided')
    deliver(decision(1, TAKEN), next.host)
    deliver(decision(0), next.host)
    await clock.pass(20)
    expect(told(verdicts).get(first)).toBe('ruby, replayed')
    again(other, 'twice')
    await clock.pass(20)
    expect(told(verdicts).get(other)).toBe('undecided')
    expect(asked()).toHaveLength(3)
  })

  test('I1, I3: whose owner was fenced as it was decided is decided once, by its next owner', async () => {
    const { clock, host, verdicts, batches, rows, deliver, carryAgain, decision, next, again, first } =
      await takenOver()
    await next.serve(0)
    const end = decision(0)
    deliver(end)
    await clock.pass(50)
    expect(told(verdicts).get(first)).toBe('undecided')
    expect(host.serving().has(0)).toBe(false)
    expect(rows.account({ shardId: 0, accountId: 'a' })?.holds.size).toBe(2)
    batches.length = 0
    carryAgain(end, next.host)
    again(first, 'once')
    await clock.pass(50)
    expect(told(verdicts).get(first)).toBe('ruby, replayed')
    expect(left(batches)).toEqual({ transactions: 1, operations: 1 })
  })
})
