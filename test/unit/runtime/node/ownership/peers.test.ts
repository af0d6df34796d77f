/** E1 to E3: a node counts as dead after 12 seconds of silence that this node has observed itself. */
import { describe, expect, test } from 'vitest'
import { Peers, SESSION_EXPIRY_MS, UNREADY_EXPIRY_MS } from '../../../../../runtime/node/ownership/peers.ts'
import type { ListedSession } from '../../../../../runtime/ports/lease-store.ts'

function watching() {
  let nowMs = 0
  const clock = { now: () => nowMs, monotonic: () => nowMs, after: () => ({ cancel: () => undefined }) }
  const peers = new Peers(clock)
  const listed = (name: string, revision: number): ListedSession => ({
    nodeId: name,
    session: name,
    ready: true,
    draining: false,
    refusedShards: [],
    revision,
  })
  /** Looks once a second for so long, at what `at` lists. */
  const watch = (forMs: number, at: (atMs: number) => ListedSession[], owners: string[] = []) => {
    for (const untilMs = nowMs + forMs; nowMs < untilMs; nowMs += 1_000) {
      peers.observe(
        at(nowMs),
        owners.map((name) => ({ nodeId: name, session: name })),
      )
    }
  }
  return { peers, listed, watch, sleep: (forMs: number) => (nowMs += forMs) }
}

describe('peers', () => {
  test('E1: a key that changes is alive, one that does not for 12 s is dead', () => {
    const { peers, listed, watch } = watching()
    watch(SESSION_EXPIRY_MS + 1_000, (atMs) => [listed('alive', atMs), listed('silent', 1)])
    expect(peers.isDead('alive')).toBe(false)
    expect(peers.isDead('silent')).toBe(true)
  })

  test('E1: an owner whose key is absent is timed like one whose key does not change', () => {
    const { peers, watch } = watching()
    watch(SESSION_EXPIRY_MS - 1_000, () => [], ['gone'])
    expect(peers.isDead('gone')).toBe(false)
    watch(2_000, () => [], ['gone'])
    expect(peers.isDead('gone')).toBe(true)
  })

  test('E2: one that renews its key and says for 6 s that it is not ready is dead; a moment of it is nothing', () => {
    const { peers, listed, watch } = watching()
    const unready = (atMs: number) => [{ ...listed('cut-off', atMs), ready: false }, listed('alive', atMs)]
    watch(UNREADY_EXPIRY_MS - 2_000, unready)
    watch(1_000, (atMs) => [listed('cut-off', atMs), listed('alive', atMs)])
    watch(UNREADY_EXPIRY_MS - 2_000, unready)
    expect(peers.isDead('cut-off')).toBe(false)
    watch(2_000, unready)
    expect(peers.isDead('cut-off')).toBe(true)
    expect(peers.isDead('alive')).toBe(false)
  })

  test('E3: an observer that stalled starts over', () => {
    const { peers, listed, watch, sleep } = watching()
    watch(11_000, () => [listed('silent', 1)])
    sleep(5_000)
    watch(1_000, () => [listed('silent', 1)])
    expect(peers.isDead('silent')).toBe(false)
  })

  test('E3: when most keys vanish at once no session is dead yet', () => {
    const { peers, listed, watch } = watching()
    const owners = ['a', 'b', 'c', 'd']
    watch(11_000, () => owners.map((name) => listed(name, 1)), owners)
    watch(3_000, () => [], owners)
    expect(owners.filter((name) => peers.isDead(name))).toEqual([])
    watch(SESSION_EXPIRY_MS, () => [], owners)
    expect(owners.filter((name) => peers.isDead(name))).toEqual(owners)
  })

  test('E3: when no more than half of the keys vanish at once, the others are timed as before', () => {
    const { peers, listed, watch } = watching()
    watch(8_000, () => ['a', 'b', 'silent', 'other'].map((name) => listed(name, 1)))
    watch(5_000, () => ['silent', 'other'].map((name) => listed(name, 1)))
    expect(peers.isDead('silent')).toBe(true)
  })

  test('what was never seen is not dead', () => {
    expect(watching().peers.isDead('unknown')).toBe(false)
  })
})
