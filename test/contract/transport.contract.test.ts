/** All transports, real, with sealed messages, and simulated, under one contract. */
import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll } from 'vitest'
import { createSealedBodies } from '../../infra/nats/message-bodies.ts'
import { createNatsTransport, type NatsTransportOptions } from '../../infra/nats/transport-nats.ts'
import type { NatsLink } from '../../infra/nats/connection.ts'
import { createKernel } from '../simulation/kernel/kernel.ts'
import { createSimNetwork, createSimTransport } from '../simulation/cluster/sim-transport.ts'
import { SILENT_LOG, startTestNats, type TestNats } from '../support/nats/nats.ts'
import { until } from '../support/nats/nats-until.ts'
import { transportContract, type TransportHarness } from './transport.contract.ts'

let nats: TestNats
beforeAll(async () => {
  nats = await startTestNats()
})
afterAll(() => nats.close())

async function startHarness(options: NatsTransportOptions): Promise<TransportHarness> {
  const links: NatsLink[] = []
  return {
    connect: async () => {
      const link = await nats.connect(`client_${links.length}`)
      links.push(link)
      return createNatsTransport(link, SILENT_LOG, options)
    },
    until,
    elapse: async (durationMs) => {
      const endMs = performance.now() + durationMs
      await until(() => performance.now() >= endMs)
    },
    settle: async () => {
      // A round trip of each client, twice: what the first let through has come after the second.
      for (const link of [...links, ...links]) await link.connection.flush()
    },
    loseServer: async () => {
      await nats.stop()
      await until(() => links.every((link) => !link.connected()))
    },
    regainServer: async () => {
      await nats.start()
      await until(() => links.every((link) => link.connected()))
    },
    close: async () => {
      await Promise.all(links.map((link) => link.close()))
    },
  }
}

transportContract('NATS', () => startHarness({ bodies: createSealedBodies(randomBytes(32), 'a ledger') }))

for (const seed of [1, 2, 3, 4, 5]) {
  transportContract(`simulated, seed ${seed}`, async (): Promise<TransportHarness> => {
    const kernel = createKernel({ seed })
    const network = createSimNetwork(kernel)
    const names: string[] = []
    return {
      connect: () => {
        const name = `client ${names.length}`
        names.push(name)
        return Promise.resolve(createSimTransport(network, kernel.process(name)))
      },
      until: async (condition) => {
        if (!(await kernel.runUntil(condition, 60_000))) throw new Error(`did not come true: ${condition.toString()}`)
      },
      elapse: kernel.runFor,
      settle: () => kernel.runFor(5_000),
      loseServer: async () => {
        for (const name of names) network.disconnect(name, 0)
        await kernel.runFor(1)
      },
      regainServer: () => {
        for (const name of names) network.reconnect(name)
        return Promise.resolve()
      },
      close: () => Promise.resolve(),
    }
  })
}
