/** F2, F3, R5: a body of another version is reported as unsupported and has no other effect. */
import { describe, expect, test } from 'vitest'
import { NodeCalls } from '../../../../runtime/node/ownership/node-calls.ts'
import { createUnsupported } from '../../../../runtime/node/shard/unsupported.ts'
import type { ItemVerdict } from '../../../../runtime/protocol/messages.ts'
import { encodeFrame, UNSUPPORTED_VERSION, WIRE, type Wire } from '../../../../runtime/protocol/wire.ts'
import { deliveryAnswersIn, itemsBody, verdictsIn } from '../../../support/bodies.ts'
import { READS_NEXT, WRITES_NEXT } from '../../../support/nats/next-wire.ts'
import {
  arriving,
  balanceIn,
  createLedger,
  credit,
  hosting,
  item,
  kinds,
  register,
  sendTo,
  startHost,
  transfer,
} from '../../../support/shard-hosting.ts'

describe('a node that receives items', () => {
  test('F3: refuses all of an unread version with a reply, and logs it once', async () => {
    const { clock, host, logged, questions, item } = hosting([0])
    const replies: string[] = []
    for (const body of [itemsBody([item(0, 'a', register)], 2), itemsBody([item(0, 'a', register)], 2), '[]', 'x']) {
      host.receive(body, (reply) => replies.push(reply))
    }
    await clock.pass(10)
    expect(replies).toEqual([UNSUPPORTED_VERSION, UNSUPPORTED_VERSION, UNSUPPORTED_VERSION, UNSUPPORTED_VERSION])
    expect(questions).toEqual([])
    expect(logged).toEqual([
      { event: 'version_unsupported', fields: { form: 'items', version: 2 } },
      { event: 'version_unsupported', fields: { form: 'items', version: null } },
    ])
  })

  test('F4: replies unsupported_version to one of an unknown kind, and handles the others', async () => {
    const { clock, host, logged, item } = hosting([0])
    const verdicts: ItemVerdict[] = []
    const odd = { ...item(0, 'a2', register), requestId: 'odd', operation: { kind: 'unheard_of' } }
    const nameless = { ...item(0, 'a3', register), requestId: null }
    const body = encodeFrame(1, [item(0, 'a1', register), odd, nameless, item(0, 'a4', register)])
    host.receive(body, (reply) => verdicts.push(...verdictsIn(reply)))
    host.receive(body, () => undefined)
    await clock.pass(10)
    expect(kinds(verdicts).toSorted()).toEqual(['registered', 'registered', 'unsupported_version'])
    expect(verdicts.find(({ verdict }) => verdict.kind === 'unsupported_version')?.requestId).toBe('odd')
    expect(logged).toEqual([{ event: 'version_unsupported', fields: { form: 'items', version: 1 } }])
  })

  test('F2: replies in the version of the request, independent of the version that it writes', async () => {
    const { clock, host, item } = hosting([0], {}, { wire: WRITES_NEXT })
    const replies: string[] = []
    for (const version of [1, 2]) {
      host.receive(itemsBody([item(0, `a${version}`, register)], version), (reply) => replies.push(reply))
    }
    await clock.pass(10)
    expect(replies.map((reply) => (JSON.parse(reply) as { version: number }).version)).toEqual([1, 2])
    expect(kinds(replies.flatMap(verdictsIn))).toEqual(['registered', 'registered'])
  })
})

describe('messages between shards', () => {
  /** The account `a` with 10 on shard 0 at one node, the account `b` on shard 1 at another. */
  async function apart(source: Wire, target: Wire) {
    const ledger = createLedger([0, 1])
    const one = startHost(ledger, 'one', [0], {}, { wire: source })
    const two = startHost(ledger, 'two', [1], {}, { wire: target })
    const verdicts: ItemVerdict[] = []
    sendTo(one.host, verdicts, item(0, 'a', register), item(0, 'a', credit('a', 'first', undefined, '10')))
    sendTo(two.host, verdicts, item(1, 'b', register))
    await ledger.clock.pass(20)
    const send = (key: string) => sendTo(one.host, verdicts, item(0, 'a', transfer('a', 'b', key)))
    const balances = () => [balanceIn(ledger.rows, 'a'), balanceIn(ledger.rows, 'b')]
    return { ledger, one, two, verdicts, send, balances, ...ledger }
  }

  test.for([
    ['1 to 2', READS_NEXT, WRITES_NEXT],
    ['2 to 1', WRITES_NEXT, READS_NEXT],
  ] as const)('from version %s arrive where both are read', async ([, source, target]) => {
    const { clock, send, balances, logged, rows } = await apart(source, target)
    for (const key of ['t1', 't2']) send(key)
    await clock.pass(100)
    expect(balances()).toEqual(['8', '2'])
    expect([...rows.transactions.values()].map(({ transaction }) => transaction.status)).not.toContain('pending')
    expect(logged).toEqual([])
  })

  test('F3, R5: of a later version wait at an older node, affect nothing else, and arrive once its shard has a newer owner', async () => {
    const { clock, ledger, one, two, send, balances, logged, verdicts } = await apart(WRITES_NEXT, WIRE)
    for (const key of ['t1', 't2']) send(key)
    await clock.pass(5_000)
    expect(balances()).toEqual(['10', '0'])
    expect([one, two].map(({ host }) => [host.serving().size, host.refused()])).toEqual([
      [1, []],
      [1, []],
    ])
    expect(logged).toEqual([{ event: 'version_unsupported', fields: { form: 'deliveries', version: 2 } }])
    sendTo(two.host, verdicts, item(1, 'b', credit('b', 'k')))
    await clock.pass(10)
    expect(kinds(verdicts).at(-1)).toBe('accepted')
    two.host.drop(1)
    await startHost(ledger, 'three', [], {}, { wire: READS_NEXT }).serve(1)
    await clock.pass(100)
    expect(balances()).toEqual(['8', '3'])
  })

  test('F5: written by a newer node are sent unchanged by an older one that takes over its shard', async () => {
    const { clock, control, ledger, one, send, balances, rows } = await apart(WRITES_NEXT, READS_NEXT)
    control.carry = () => 'lost'
    send('t1')
    await clock.pass(20)
    expect(rows.channels.outbox(0).map(({ envelope }) => envelope.version)).toEqual([2])
    one.host.drop(0)
    control.carry = () => 'carried'
    await startHost(ledger, 'three', [], {}, { wire: WIRE }).serve(0)
    await clock.pass(100)
    expect(balances()).toEqual(['9', '1'])
  })

  test('R5: an unread one parks its own channel: earlier ones are applied, other channels continue, nothing is quarantined', async () => {
    const { clock, host, rows, logged, item, send } = hosting([0])
    const answers: string[] = []
    const deliver = (source: number, ...messages: readonly object[]) => {
      const delivery = { source, target: 0, epoch: 1, attempt: 0, began: 0, acknowledged: 0, messages }
      host.receiveDeliveries(encodeFrame(1, [delivery]), (reply) => answers.push(reply))
    }
    send(item(0, 'a', register))
    await clock.pass(10)
    const [first, second, third] = [1, 2, 3].map((number) => arriving(number, 'a'))
    const odd = { ...second, envelope: { ...second?.envelope, version: 7 } }
    deliver(2, first ?? {}, odd, third ?? {})
    deliver(3, { ...arriving(9, 'a'), number: 1 })
    await clock.pass(10)
    deliver(2, odd, third ?? {})
    await clock.pass(10)
    expect(balanceIn(rows, 'a')).toBe('2')
    expect(host.refused()).toEqual([])
    const ofParked = answers.flatMap(deliveryAnswersIn).filter(({ source }) => source === 2)
    expect(ofParked.map(({ kind, mark }) => [kind, mark])).toEqual([
      ['parked', 0],
      ['taken', 1],
      ['parked', 1],
    ])
    expect(logged.map(({ event, fields }) => [event, fields])).toEqual([
      ['channel_parked', expect.objectContaining({ shard: 0, source: 2, message: 2 })],
    ])
  })
})

describe('messages of nodes about shards', () => {
  function calling(served: Wire, asking: Wire) {
    const logged: unknown[] = []
    const note = (event: string, fields: unknown) => void logged.push([event, fields])
    const unsupported = createUnsupported({ info: note, warn: note, error: note })
    const taken: number[] = []
    let handler: (message: string, reply: (message: string) => void) => void = () => undefined
    const transport = {
      serve: (_subject: string, run: typeof handler) => {
        handler = run
        return { drain: () => Promise.resolve() }
      },
      request: (_subject: string, message: string, _timeoutMs: number, onReply: (reply: string) => void) => {
        queueMicrotask(() => handler(message, onReply))
        return { close: () => undefined }
      },
    }
    const clock = { after: () => ({ cancel: () => undefined }) }
    const calls = (wire: Wire) => new NodeCalls({ session: 's', transport, clock, wire, unsupported })
    calls(served).serve({
      wouldTake: (shardIds) => shardIds,
      take: (shardId) => {
        taken.push(shardId)
        return Promise.resolve(true)
      },
    })
    return {
      calls: calls(asking),
      taken,
      logged,
      send: (text: string, reply: (text: string) => void) => handler(text, reply),
    }
  }

  test.for([
    ['1 to 2', READS_NEXT, WRITES_NEXT],
    ['2 to 1', WRITES_NEXT, READS_NEXT],
  ] as const)('from version %s gets a reply', async ([, served, asking]) => {
    const { calls, taken } = calling(served, asking)
    expect(await calls.offer('s', [1, 2])).toEqual([1, 2])
    expect(await calls.released('s', 1, 4)).toBe(true)
    expect([taken, await calls.isReachable('s')]).toEqual([[1], true])
  })

  test('F3: of a later version count as neither offer nor release, but show that the node is there', async () => {
    const { calls, taken, logged } = calling(WIRE, WRITES_NEXT)
    expect(await calls.offer('s', [1, 2])).toEqual([])
    expect(await calls.released('s', 1, 4)).toBe(false)
    expect([taken, await calls.isReachable('s')]).toEqual([[], true])
    expect(logged).toEqual([['version_unsupported', { form: 'calls', version: 2 }]])
  })

  test.for([
    '{"version":1,"body":{"kind":"unheard_of"}}',
    '{"version":1,"body":{"kind":"offer","shardIds":["1"]}}',
    '{',
  ])('F4: %s gets the reply of an unsupported version', (text) => {
    const { send } = calling(WIRE, WIRE)
    const replies: string[] = []
    send(text, (reply) => replies.push(reply))
    expect(replies).toEqual([UNSUPPORTED_VERSION])
  })
})
