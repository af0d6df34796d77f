/**
 * The readiness of a node follows its last probe of the store, its last renewal of the lease, and a request to leave.
 */
import { expect, test } from 'vitest'
import { delay } from '../../../../runtime/ports/clock.ts'
import { sessionSubject } from '../../../../runtime/protocol/messages.ts'
import { itemsBody, verdictsIn } from '../../../support/bodies.ts'
import { applied, item, kinds, register } from '../../../support/shard-hosting.ts'
import { RENEW_MS, startNode } from './node-fixture.ts'

test('a node that is well has lately proved it, owns its shards and is not leaving', async () => {
  const { clock, node, moves } = await startNode()
  await clock.pass(10 * RENEW_MS)
  const { probedAgoMs, renewedAgoMs, ...said } = node.measures()
  expect(said).toMatchObject({ probed: true, renewed: true, clockInBounds: true, leaving: false, owned: 3 })
  expect(probedAgoMs).toBeLessThanOrEqual(RENEW_MS)
  expect(renewedAgoMs).toBeLessThanOrEqual(RENEW_MS)
  expect(moves).toEqual(['acquired', 'acquired', 'acquired'])
})

test('a probe that fails is known at once, and so is one that succeeds again', async () => {
  const { clock, node, world } = await startNode()
  world.probe = 'fails'
  await clock.pass(2 * RENEW_MS)
  expect(node.measures()).toMatchObject({ probed: false, renewed: true })
  expect(node.measures().probedAgoMs).toBeGreaterThan(RENEW_MS)
  world.probe = 'good'
  await clock.pass(RENEW_MS)
  expect(node.measures().probed).toBe(true)
})

test('a renewal that fails is known at once; one that hangs only ages', async () => {
  const { clock, node, world } = await startNode()
  world.renew = 'fails'
  await clock.pass(2 * RENEW_MS)
  expect(node.measures()).toMatchObject({ probed: true, renewed: false })
  world.renew = 'good'
  await clock.pass(RENEW_MS)
  expect(node.measures().renewed).toBe(true)
  world.renew = 'hangs'
  await clock.pass(10 * RENEW_MS)
  expect(node.measures().renewed).toBe(true)
  expect(node.measures().renewedAgoMs).toBeGreaterThan(9 * RENEW_MS)
})

test('a clock that is off is known with the next probe', async () => {
  const { clock, node, world } = await startNode()
  world.skewMs = 9_000
  await clock.pass(RENEW_MS)
  expect(node.measures()).toMatchObject({ clockSkewMs: 9_000, clockInBounds: false, probed: true })
})

test('a node that is told to stop is leaving from then on, and what it gave away is counted', async () => {
  const { clock, node, moves } = await startNode()
  const stopped = node.stop()
  expect(node.measures().leaving).toBe(true)
  await clock.pass(10_000)
  await stopped
  expect(node.measures()).toMatchObject({ leaving: true, owned: 0 })
  expect(moves.slice(3)).toEqual(['released', 'released', 'released'])
})

test('a shard that the store says is another’s is fenced, once', async () => {
  const { clock, node, moves, ledger } = await startNode()
  ledger.give(1, 'another')
  await clock.pass(3_000)
  expect(node.measures().owned).toBe(2)
  expect(moves.slice(3)).toEqual(['fenced'])
})

test('failing commits show at once and in the next heartbeat, and both recover by themselves', async () => {
  const { clock, node, probes, ledger } = await startNode()
  ledger.control.commit = () => ({ kind: 'failed', cause: 'transient', detail: 'SQLSTATE 53100' })
  ledger.handlers.get(sessionSubject('s'))?.(itemsBody([item(0, 'a', register)]), () => undefined)
  await clock.pass(500)
  expect(node.measures().commitsFail).toBe(true)
  await clock.pass(RENEW_MS)
  expect(probes.at(-1)).toBe(false)
  ledger.control.commit = applied
  await clock.pass(2 * RENEW_MS)
  expect(node.measures().commitsFail).toBe(false)
  expect(probes.at(-1)).toBe(true)
})

test('a store that takes half a second for everything moves no shard, and no request is refused', async () => {
  const { clock, node, moves, world, ledger } = await startNode()
  world.probeDelayMs = 500
  ledger.control.commit = async (batch) => {
    await delay(clock, 500)
    return applied(batch)
  }
  const replies: string[] = []
  for (let round = 0; round < 60; round += 1) {
    ledger.handlers.get(sessionSubject('s'))?.(
      itemsBody([item(0, `a${round}`, register, { deadlineMs: clock.now() + 5_000 })]),
      (reply) => replies.push(reply),
    )
    await clock.pass(5_000)
    expect(node.measures()).toMatchObject({ probed: true, renewed: true, clockInBounds: true, owned: 3 })
  }
  expect(moves).toEqual(['acquired', 'acquired', 'acquired'])
  expect(new Set(kinds(replies.flatMap(verdictsIn)))).toEqual(new Set(['registered']))
  expect(replies).toHaveLength(60)
})
