/** Goal: the simulated lease store fails in every way that a real one does, and never otherwise (S1, S2). */
import { describe, expect, test } from 'vitest'
import { LeaseStoreUnavailable, type LeaseStore, type SessionRecord } from '../../runtime/ports/lease-store.ts'
import { createKernel, type Kernel } from './kernel.ts'
import type { SimProcess } from './kernel-process.ts'
import {
  CALM_LEASES,
  createSimLeaseServer,
  createSimLeaseStore,
  type LeaseFaults,
  type SimLeaseServer,
} from './sim-lease-store.ts'

const WITHIN_MS = 60_000

interface World {
  readonly kernel: Kernel
  readonly server: SimLeaseServer
  readonly process: SimProcess
  readonly store: LeaseStore
  readonly renew: (seen: number) => Promise<number | 'conflict'>
  readonly listed: () => Promise<readonly number[]>
}

function createWorld(seed: number, faults: LeaseFaults = CALM_LEASES, reachable?: (name: string) => boolean): World {
  const kernel = createKernel({ seed })
  const server = createSimLeaseServer(kernel, faults, reachable)
  const process = kernel.process('node')
  const store = createSimLeaseStore(server, process)
  return {
    kernel,
    server,
    process,
    store,
    renew: (seen) => kernel.runToEnd(store.renew(sessionOf('node'), seen), WITHIN_MS),
    listed: async () => (await kernel.runToEnd(store.list(), WITHIN_MS)).map(({ revision }) => revision),
  }
}

function sessionOf(nodeId: string): SessionRecord {
  return { nodeId, session: '0'.repeat(32), ready: true, draining: false, refusedShards: [] }
}

describe('simulated lease store', () => {
  test("a call while it is stopped fails after its timeout on the caller's own clock", async () => {
    const { kernel, server, process, renew } = createWorld(1)
    process.setClock({ rate: 0.8 })
    server.stopFor(5000)
    await expect(renew(0)).rejects.toBeInstanceOf(LeaseStoreUnavailable)
    expect(kernel.now()).toBeGreaterThanOrEqual(1250)
    await kernel.runFor(5000)
    expect(await renew(0)).toBe(1)
  })

  test('who cannot reach the server fails, others go on', async () => {
    let cut = true
    const { renew } = createWorld(1, CALM_LEASES, (name) => name !== 'node' || !cut)
    await expect(renew(0)).rejects.toBeInstanceOf(LeaseStoreUnavailable)
    cut = false
    expect(await renew(0)).toBe(1)
  })

  test('rewound, it shows old revisions and takes writes on top of them', async () => {
    const { kernel, server, renew, listed } = createWorld(1)
    expect(await renew(0)).toBe(1)
    await kernel.runFor(2000)
    expect(await renew(1)).toBe(2)
    server.rewind(1000)
    expect(await listed()).toEqual([1])
    expect(await renew(2)).toBe('conflict')
    expect(await renew(1)).toBe(2)
    server.rewind(WITHIN_MS)
    expect(await listed()).toEqual([])
  })

  test('without quorum nothing is written, and what is read is as it was when the majority was lost', async () => {
    const { kernel, server, store, renew, listed } = createWorld(1)
    const other = createSimLeaseStore(server, kernel.process('other'))
    const renewOther = (seen: number) => kernel.runToEnd(other.renew(sessionOf('other'), seen), WITHIN_MS)
    const heard: number[] = []
    store.watchHints(({ epoch }) => heard.push(epoch))
    expect(await renew(0)).toBe(1)
    server.loseQuorumFor(10_000, 'stale', new Set(['node']))
    await expect(renew(1)).rejects.toBeInstanceOf(LeaseStoreUnavailable)
    expect(await renewOther(0)).toBe(2)
    await kernel.runToEnd(other.hint({ shardId: 1, nodeId: null, session: null, epoch: 7 }), WITHIN_MS)
    expect(await listed()).toEqual([1])
    expect((await kernel.runToEnd(other.list(), WITHIN_MS)).map(({ revision }) => revision)).toEqual([1, 2])
    await kernel.runFor(10_000)
    expect(await listed()).toEqual([1, 2])
    expect(await renew(1)).toBe(4)
    expect(heard).toEqual([])
    server.loseQuorumFor(10_000, 'fail')
    await expect(kernel.runToEnd(store.list(), WITHIN_MS)).rejects.toBeInstanceOf(LeaseStoreUnavailable)
    await expect(renewOther(2)).rejects.toBeInstanceOf(LeaseStoreUnavailable)
    server.heal()
    expect(await renewOther(2)).toBe(5)
  })

  test('stale, it shows some earlier state and judges writes by the present one', async () => {
    const { kernel, server, renew, listed } = createWorld(1)
    let revision = 0
    for (let round = 0; round < 10; round += 1) {
      revision = Number(await renew(revision))
      await kernel.runFor(100)
    }
    server.setFaults({ ...CALM_LEASES, stale: 1, staleMs: 800 })
    const seen = new Set<number>()
    for (let look = 0; look < 20; look += 1) for (const shown of await listed()) seen.add(shown)
    expect(seen.size).toBeGreaterThan(2)
    expect(await renew(revision)).toBe(revision + 1)
    expect(kernel.counted('fault:lease_stale')).toBe(20)
  })

  test('S1: under all faults what the store holds is what some call wrote, and revisions only grow', async () => {
    const run = async (seed: number): Promise<Kernel> => {
      const faults: LeaseFaults = {
        ...CALM_LEASES,
        latencyMs: { min: 0.1, max: 30 },
        unavailable: 0.1,
        ackLost: 0.1,
        stale: 0.2,
        staleMs: 500,
        hintLost: 0.1,
      }
      const { kernel, server, renew } = createWorld(seed, faults)
      let seen = 0
      let last = 0
      for (let round = 0; round < 60; round += 1) {
        const outcome = await renew(seen).catch(() => 'failed' as const)
        // One writer: a conflict could only come of a write in doubt, and that is adopted.
        expect(outcome).not.toBe('conflict')
        if (typeof outcome === 'number') seen = outcome
        const held = server.sessions()[0]?.revision ?? 0
        expect(held).toBeGreaterThanOrEqual(last)
        last = held
      }
      expect(kernel.counted('fault:lease_unavailable')).toBeGreaterThan(0)
      expect(kernel.counted('fault:lease_ack_lost')).toBeGreaterThan(0)
      return kernel
    }
    for (let seed = 1; seed <= 5; seed += 1) expect((await run(seed)).trace.hash()).toBe((await run(seed)).trace.hash())
  })

  test('a write of a process that dies meanwhile may take effect, and is never answered', async () => {
    const { kernel, server, process, store } = createWorld(1)
    let settled = false
    void store.renew(sessionOf('node'), 0).finally(() => (settled = true))
    process.crash()
    await kernel.runFor(10_000)
    expect(settled).toBe(false)
    expect(server.sessions()).toHaveLength(1)
    const again = createSimLeaseStore(server, kernel.process('node'))
    expect(await kernel.runToEnd(again.renew(sessionOf('node'), 0), WITHIN_MS)).toBe('conflict')
  })

  test('hints reach watchers late, or not at all when they are lost', async () => {
    const { kernel, server, store } = createWorld(1)
    const heard: number[] = []
    store.watchHints(({ epoch }) => heard.push(epoch))
    await kernel.runToEnd(store.hint({ shardId: 1, nodeId: 'node', session: null, epoch: 1 }), WITHIN_MS)
    await kernel.runFor(100)
    server.setFaults({ ...CALM_LEASES, hintLost: 1 })
    await kernel.runToEnd(store.hint({ shardId: 1, nodeId: 'node', session: null, epoch: 2 }), WITHIN_MS)
    await kernel.runFor(100)
    expect(heard).toEqual([1])
    expect(kernel.counted('fault:hint_lost')).toBe(1)
  })

  test('hints that come late overtake each other, and come', async () => {
    const { kernel, server, store } = createWorld(1)
    const heard: number[] = []
    store.watchHints(({ epoch }) => heard.push(epoch))
    server.setFaults({ ...CALM_LEASES, hintLate: 1, hintLateMs: 5_000 })
    const epochs = Array.from({ length: 10 }, (_, index) => index)
    for (const epoch of epochs) {
      await kernel.runToEnd(store.hint({ shardId: 1, nodeId: 'node', session: null, epoch }), WITHIN_MS)
    }
    await kernel.runFor(6_000)
    expect(heard.toSorted((left, right) => left - right)).toEqual(epochs)
    expect(heard).not.toEqual(epochs)
  })
})
