/** Goal: the simulated network is as cruel as it says, never crueller (N1-N3), and every fault really happens. */
import { describe, expect, test } from 'vitest'
import { NOT_DELIVERED, type NotDelivered, type Transport } from '../../runtime/ports/transport.ts'
import { createKernel, type Kernel } from './kernel.ts'
import type { SimProcess } from './kernel-process.ts'
import {
  CALM_NETWORK,
  createSimNetwork,
  createSimTransport,
  type NetworkFaults,
  type SimNetwork,
} from './sim-transport.ts'

const CRUEL: NetworkFaults = {
  ...CALM_NETWORK,
  latencyMs: { min: 0.05, max: 3 },
  slow: 0.1,
  slowMs: 200,
  loss: 0.05,
  duplication: 0.1,
  deliveryDuplication: 0,
  noResponders: 0.1,
}

interface World {
  readonly kernel: Kernel
  readonly network: SimNetwork
  readonly connect: (name: string) => { readonly process: SimProcess; readonly transport: Transport }
}

function createWorld(seed: number, faults: NetworkFaults = CALM_NETWORK): World {
  const kernel = createKernel({ seed })
  const network = createSimNetwork(kernel, faults)
  return {
    kernel,
    network,
    connect: (name) => {
      const process = kernel.process(name)
      return { process, transport: createSimTransport(network, process) }
    },
  }
}

function ask(transport: Transport, message: string, timeoutMs = 10_000): (string | NotDelivered)[] {
  const replies: (string | NotDelivered)[] = []
  transport.request('subject', message, timeoutMs, (reply) => replies.push(reply))
  return replies
}

async function serveEcho({ kernel, connect }: World, name: string): Promise<{ process: SimProcess; heard: string[] }> {
  const { process, transport } = connect(name)
  const heard: string[] = []
  transport.serve('subject', (message, reply) => {
    heard.push(message)
    reply(`heard ${message}`)
  })
  await kernel.runFor(1000)
  return { process, heard }
}

async function cruelRun(
  seed: number,
): Promise<{ kernel: Kernel; heard: readonly string[]; replies: Map<string, (string | NotDelivered)[]> }> {
  const world = createWorld(seed, CRUEL)
  const { heard } = await serveEcho(world, 'server')
  const replies = new Map<string, (string | NotDelivered)[]>()
  const senders = ['a', 'b', 'c'].map((name) => ({ name, transport: world.connect(name).transport }))
  for (let index = 100; index < 200; index += 1) {
    for (const { name, transport } of senders) replies.set(`${name} ${index}`, ask(transport, `${name} ${index}`))
    await world.kernel.runFor(1)
  }
  await world.kernel.runFor(20_000)
  return { kernel: world.kernel, heard, replies }
}

describe('simulated network', () => {
  test.for([1, 2, 3, 4, 5, 6])(
    "N1, N2 hold under all faults, which all happen, and the trace is the seed's (seed %i)",
    async (seed) => {
      const { kernel, heard, replies } = await cruelRun(seed)
      for (const name of ['a', 'b', 'c']) {
        const mine = [...new Set(heard.filter((message) => message.startsWith(name)))]
        expect(mine).toEqual([...mine].sort())
        expect(mine.length).toBeGreaterThan(50)
      }
      const refused = [...replies].flatMap(([message, answers]) => (answers.includes(NOT_DELIVERED) ? [message] : []))
      expect(refused.length).toBeGreaterThan(0)
      expect(heard.filter((message) => refused.includes(message))).toEqual([])
      for (const [message, answers] of replies) {
        for (const answer of answers) expect([NOT_DELIVERED, `heard ${message}`]).toContain(answer)
      }
      expect(heard.length).toBeGreaterThan(new Set(heard).size)
      expect([...replies.values()].some((answers) => answers.length === 0)).toBe(true)
      for (const fault of ['message_lost', 'message_duplicated', 'reply_duplicated', 'no_responders_for_living']) {
        expect(kernel.counted(`fault:${fault}`)).toBeGreaterThan(0)
      }
      expect((await cruelRun(seed)).kernel.trace.hash()).toBe(kernel.trace.hash())
    },
  )

  test('messages of different senders overtake each other', async () => {
    const orders = new Set<string>()
    for (let seed = 0; seed < 20; seed += 1) {
      const world = createWorld(seed)
      const { heard } = await serveEcho(world, 'server')
      for (const name of ['a', 'b']) ask(world.connect(name).transport, name)
      await world.kernel.runFor(100)
      orders.add(heard.join(''))
    }
    expect(orders).toEqual(new Set(['ab', 'ba']))
  })

  test('a cut is one-way: its own direction is silent or not_delivered, the other only loses replies', async () => {
    const world = createWorld(1)
    const { heard } = await serveEcho(world, 'server')
    const { transport } = world.connect('client')
    world.network.cut('client', 'server', 'lost')
    const lost = ask(transport, 'lost')
    world.network.cut('client', 'server', 'lost')
    await world.kernel.runFor(100)
    world.network.cut('client', 'server', 'no_responders')
    const refused = ask(transport, 'refused')
    await world.kernel.runFor(100)
    world.network.mend('client', 'server')
    world.network.cut('server', 'client', 'lost')
    const unanswered = ask(transport, 'unanswered')
    await world.kernel.runFor(100)
    world.network.heal()
    const answered = ask(transport, 'answered')
    await world.kernel.runFor(100)
    expect([lost, refused, unanswered, answered]).toEqual([[], [NOT_DELIVERED], [], ['heard answered']])
    expect(heard).toEqual(['unanswered', 'answered'])
  })

  test('a message above the bound of the present is not sent, and what is sent in parts is counted', async () => {
    const world = createWorld(6)
    const { heard } = await serveEcho(world, 'server')
    const { transport } = world.connect('client')
    world.network.setFaults({ ...CALM_NETWORK, maxMessageBytes: 20 })
    expect(transport.maxMessageBytes()).toBe(20)
    expect(() => ask(transport, 'x'.repeat(21))).toThrow('at most 20 are carried')
    ask(transport, 'one')
    await world.kernel.runFor(100)
    expect(world.kernel.counted('fault:message_split')).toBe(0)
    for (const part of ['two', 'three']) ask(transport, part)
    await world.kernel.runFor(100)
    expect(heard).toEqual(['one', 'two', 'three'])
    expect(world.kernel.counted('fault:message_split')).toBe(1)
    world.network.heal()
    expect(() => ask(transport, 'x'.repeat(21))).not.toThrow()
  })

  test('what a cut stops is counted under the name that the cut was given, messages and replies', async () => {
    const world = createWorld(7)
    await serveEcho(world, 'server')
    const { transport } = world.connect('client')
    world.network.cut('client', 'server', 'lost', 'fault:parted')
    ask(transport, 'there')
    await world.kernel.runFor(100)
    world.network.mend('client', 'server')
    world.network.cut('server', 'client', 'lost', 'fault:parted')
    ask(transport, 'and back')
    await world.kernel.runFor(100)
    expect(world.kernel.counted('fault:parted')).toBe(2)
    expect(world.kernel.counted('fault:cut')).toBe(0)
  })

  test('a dead server is silent for a moment, then nobody; its restart is heard again', async () => {
    const world = createWorld(2)
    const { process } = await serveEcho(world, 'server')
    const { transport } = world.connect('client')
    process.crash()
    ask(transport, 'perhaps lost')
    await world.kernel.runFor(1000)
    const refused = ask(transport, 'refused')
    await world.kernel.runFor(1000)
    expect(refused).toEqual([NOT_DELIVERED])
    const second = await serveEcho(world, 'server')
    const answered = ask(transport, 'answered')
    await world.kernel.runFor(1000)
    expect(answered).toEqual(['heard answered'])
    expect(second.heard).toEqual(['answered'])
  })

  test('a dead process sends nothing: what its old handlers reply is gone', async () => {
    const world = createWorld(3)
    const { process, transport: server } = world.connect('server')
    const later: (() => void)[] = []
    server.serve('subject', (_message, reply) => later.push(() => reply('from the dead')))
    await world.kernel.runFor(1000)
    const replies = ask(world.connect('client').transport, 'hello')
    await world.kernel.runUntil(() => later.length > 0, 1000)
    process.crash()
    for (const run of later) run()
    ask(server, 'from the dead')
    await world.kernel.runFor(1000)
    expect(replies).toEqual([])
  })

  test('N3: what comes for a paused server is handled when it wakes, long after the requester gave up', async () => {
    const world = createWorld(4)
    const { process, heard } = await serveEcho(world, 'server')
    const { transport } = world.connect('client')
    process.pause(30_000)
    const replies = ask(transport, 'patience', 1000)
    await world.kernel.runFor(29_000)
    expect(heard).toEqual([])
    await world.kernel.runFor(5000)
    expect(heard).toEqual(['patience'])
    expect(replies).toEqual([])
  })

  test('a lost connection swallows messages until it is noticed; from then on they are not_delivered', async () => {
    const world = createWorld(5)
    const { heard } = await serveEcho(world, 'server')
    const { transport } = world.connect('client')
    world.network.disconnect('client', 5000)
    expect(world.network.reachable('client')).toBe(false)
    const swallowed = ask(transport, 'swallowed')
    await world.kernel.runFor(6000)
    const refused = ask(transport, 'refused')
    await world.kernel.runFor(100)
    world.network.reconnect('client')
    const answered = ask(transport, 'answered')
    await world.kernel.runFor(100)
    expect([swallowed, refused, answered]).toEqual([[], [NOT_DELIVERED], ['heard answered']])
    expect(heard).toEqual(['answered'])
  })
})
