/** Both lease stores, real and simulated, under one contract. */
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import type { NatsLink } from '../../infra/nats/connection.ts'
import type { BucketOptions } from '../../infra/nats/bucket.ts'
import { createNatsLeaseStore } from '../../infra/nats/lease-store-nats.ts'
import { createKernel } from '../simulation/kernel/kernel.ts'
import { CALM_LEASES, createSimLeaseServer, createSimLeaseStore } from '../simulation/cluster/sim-lease-store.ts'
import { SILENT_LOG, startTestNats, type TestNats } from '../support/nats/nats.ts'
import { until } from '../support/nats/nats-until.ts'
import { leaseStoreContract, type LeaseStoreHarness } from './lease-store.contract.ts'

const OPTIONS: BucketOptions = { ledgerId: 'contract', replicas: 1, storage: 'file' }

let nats: TestNats
beforeAll(async () => {
  nats = await startTestNats()
})
afterAll(() => nats.close())

leaseStoreContract('NATS', async (): Promise<LeaseStoreHarness> => {
  const links: NatsLink[] = []
  const janitor = await nats.connect('janitor')
  const connected = (): boolean => [janitor, ...links].every((link) => link.connected())
  const comeBack = async (): Promise<void> => {
    await nats.start()
    await until(connected)
  }
  const manager = await janitor.connection.jetstreamManager()
  for (const bucket of ['KV_ledger_contract_nodes', 'KV_ledger_contract_shards'])
    await manager.streams.delete(bucket).catch(() => false)
  return {
    connect: async () => {
      const link = await nats.connect(`client_${links.length}`)
      links.push(link)
      return createNatsLeaseStore(link, SILENT_LOG, OPTIONS)
    },
    finish: (promise) => promise,
    until,
    settle: async () => {
      for (const link of [...links, ...links]) await link.connection.flush()
    },
    losingAnswers: async (run) => {
      await nats.freeze()
      try {
        await run()
      } finally {
        nats.thaw()
      }
    },
    loseStore: async () => {
      await nats.stop()
      await until(() => links.every((link) => !link.connected()))
    },
    regainStore: comeBack,
    emptyStore: async () => {
      await nats.empty()
      await comeBack()
    },
    close: async () => {
      await Promise.all([janitor, ...links].map((link) => link.close()))
    },
  }
})

test('a session key that cannot be read hides no other', async () => {
  const [link, other] = [await nats.connect('writer'), await nats.connect('reader')]
  const store = createNatsLeaseStore(link, SILENT_LOG, { ...OPTIONS, ledgerId: 'garbled' })
  const record = { nodeId: 'node-a', session: 'a', ready: true, draining: false, refusedShards: [] }
  const revision = await store.renew(record, 0)
  await link.connection.jetstream().publish('$KV.ledger_garbled_nodes.node-b', 'garbled')
  const reader = createNatsLeaseStore(other, SILENT_LOG, { ...OPTIONS, ledgerId: 'garbled' })
  expect(await reader.list()).toEqual([{ ...record, revision }])
  await Promise.all([link.close(), other.close()])
})

test('a watch ends with its connection', async () => {
  const link = await nats.connect('watcher')
  let looks = 0
  const connected = (): boolean => {
    looks += 1
    return false
  }
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  try {
    createNatsLeaseStore({ ...link, connected }, SILENT_LOG, OPTIONS).watchHints(() => undefined)
    await vi.advanceTimersByTimeAsync(60_000)
    expect(looks).toBeGreaterThan(10)
    await link.close()
    const seen = looks
    await vi.advanceTimersByTimeAsync(60_000)
    expect(looks).toBe(seen)
  } finally {
    vi.useRealTimers()
  }
})

for (const seed of [1, 2, 3, 4, 5]) {
  leaseStoreContract(`simulated, seed ${seed}`, (): Promise<LeaseStoreHarness> => {
    const kernel = createKernel({ seed })
    const server = createSimLeaseServer(kernel)
    let processes = 0
    return Promise.resolve({
      connect: () => {
        processes += 1
        return Promise.resolve(createSimLeaseStore(server, kernel.process(`client ${processes}`)))
      },
      finish: (promise) => kernel.runToEnd(promise, 60_000),
      until: async (condition) => {
        if (!(await kernel.runUntil(condition, 60_000))) throw new Error(`did not come true: ${condition.toString()}`)
      },
      settle: () => kernel.runFor(5_000),
      losingAnswers: async (run) => {
        server.setFaults({ ...CALM_LEASES, ackLost: 1 })
        await run()
        server.heal()
      },
      loseStore: () => Promise.resolve(server.stopFor(Infinity)),
      regainStore: () => Promise.resolve(server.heal()),
      emptyStore: () => Promise.resolve(server.empty()),
      close: () => Promise.resolve(),
    })
  })
}
