/** Each failed check alone makes a process not ready, and /readyz names it. */
import { describe, expect, test } from 'vitest'
import type { ReadinessWarning } from '../../../api/http/dependencies.ts'
import { createEdgeReadiness } from '../../../infra/processes/readiness.ts'
import { nodeReadiness } from '../../../infra/processes/readiness.ts'
import type { NodeMeasures } from '../../../runtime/node/ledger-node.ts'
import { createVitalSigns } from '../../../runtime/node/ownership/vital-signs.ts'
import { createManualClock } from '../../support/manual-clock.ts'

const SOUND: NodeMeasures = {
  mailboxes: 0,
  lookUps: 0,
  parked: 0,
  residents: 0,
  unacknowledged: 0,
  unsent: 0,
  owned: 1,
  quarantined: 0,
  probedAgoMs: 1_000,
  renewedAgoMs: 1_000,
  clockSkewMs: 0,
  probed: true,
  renewed: true,
  clockInBounds: true,
  leaving: false,
  commitsFail: false,
  oldestPinAgeMs: 0,
}
const ALL_OF_NODE = { database: true, commits: true, nats: true, session: true, clock: true, serving: true }

describe('a node', () => {
  function readinessOf(changes: Partial<NodeMeasures>, connected = true, stopping = false) {
    const measures = () => ({ ...SOUND, ...changes })
    return nodeReadiness({ measures, connected: () => connected, stopping: () => stopping })
  }

  test('is ready if all checks pass', () => {
    expect(readinessOf({})).toEqual({ ready: true, checks: ALL_OF_NODE })
  })

  test.for([
    ['its last probe failed', { probed: false }, 'database'],
    ['its probe has had no reply for 6 s', { probedAgoMs: 6_000 }, 'database'],
    ['it never probed', { probedAgoMs: null }, 'database'],
    ['its commits fail', { commitsFail: true }, 'commits'],
    ['its last renewal failed', { renewed: false }, 'session'],
    ['its renewal has had no reply for 6 s', { renewedAgoMs: 6_000 }, 'session'],
    ['it never renewed', { renewedAgoMs: null }, 'session'],
    ['its clock is off', { clockInBounds: false }, 'clock'],
    ['it releases its shards', { leaving: true }, 'serving'],
  ] as const)('is not ready when %s', ([, changes, missing]) => {
    expect(readinessOf(changes)).toEqual({ ready: false, checks: { ...ALL_OF_NODE, [missing]: false } })
  })

  test('is not ready without NATS or while it stops', () => {
    expect(readinessOf({}, false)).toEqual({ ready: false, checks: { ...ALL_OF_NODE, nats: false } })
    expect(readinessOf({}, true, true)).toEqual({ ready: false, checks: { ...ALL_OF_NODE, serving: false } })
  })
})

describe('the vital signs of a node', () => {
  test('age from the start of the last success; a failure is known at once and does not reset the age', async () => {
    const clock = createManualClock(0)
    const signs = createVitalSigns(clock, 500)
    expect(signs.read()).toMatchObject({ probed: false, probedAgoMs: null, renewed: false, renewedAgoMs: null })
    await clock.pass(100)
    signs.probed(90, 20)
    signs.renewed(95)
    await clock.pass(1_000)
    expect(signs.read()).toMatchObject({ probed: true, probedAgoMs: 1_010, renewed: true, renewedAgoMs: 1_005 })
    signs.notProbed()
    signs.notRenewed()
    expect(signs.read()).toMatchObject({ probed: false, probedAgoMs: 1_010, renewed: false, renewedAgoMs: 1_005 })
  })

  test.for([
    [500, true],
    [501, false],
  ] as const)('with a skew of %i ms and a bound of 500, the clock is within bounds: %s', ([skewMs, inBounds]) => {
    const signs = createVitalSigns(createManualClock(0), 500)
    signs.probed(0, skewMs)
    expect(signs.read()).toMatchObject({ clockSkewMs: skewMs, clockInBounds: inBounds })
  })
})

describe('an edge', () => {
  const ALL = { database: true, nats: true, shards: true, clock: true, serving: true }
  interface Scene {
    anyShardServed: () => Promise<boolean>
    connected: boolean
    routed: boolean
    clockTrusted: boolean
    stopping: boolean
    warnings: readonly ReadinessWarning[]
  }

  function scene(changes: Partial<Scene> = {}) {
    const clock = createManualClock(0)
    const state: Scene = {
      anyShardServed: () => Promise.resolve(true),
      connected: true,
      routed: true,
      clockTrusted: true,
      stopping: false,
      warnings: [],
      ...changes,
    }
    const readiness = createEdgeReadiness(clock, {
      anyShardServed: () => state.anyShardServed(),
      connected: () => state.connected,
      routed: () => state.routed,
      clockTrusted: () => state.clockTrusted,
      stopping: () => state.stopping,
      warnings: () => state.warnings,
    })
    return { clock, state, readiness }
  }

  test('is ready if all checks pass', async () => {
    expect(await scene().readiness()).toEqual({ ready: true, checks: ALL, warnings: [] })
  })

  test.for([
    ['NATS is away', { connected: false }, 'nats'],
    ['it knows no route', { routed: false }, 'shards'],
    ['no owner has renewed its session recently', { anyShardServed: () => Promise.resolve(false) }, 'shards'],
    ['its clock is not trusted', { clockTrusted: false }, 'clock'],
    ['it is stopping', { stopping: true }, 'serving'],
  ] as const)('is not ready when %s', async ([, changes, missing]) => {
    expect(await scene(changes).readiness()).toMatchObject({ ready: false, checks: { ...ALL, [missing]: false } })
  })

  test('is not ready without PostgreSQL, and ready again after its return', async () => {
    const { clock, state, readiness } = scene({ anyShardServed: () => Promise.reject(new Error('away')) })
    expect((await readiness()).checks['database']).toBe(false)
    state.anyShardServed = () => Promise.resolve(true)
    await clock.pass(1_000)
    expect(await readiness()).toMatchObject({ ready: true, checks: ALL })
  })

  test('a near limit is a warning, and the edge stays ready', async () => {
    const warnings = [{ code: 'liability_balance_limit', detail: 'near' }]
    expect(await scene({ warnings }).readiness()).toEqual({ ready: true, checks: ALL, warnings })
  })

  test('while PostgreSQL hangs, the reply comes after two seconds', async () => {
    const { clock, readiness } = scene({ anyShardServed: () => new Promise<boolean>(() => undefined) })
    let reply: unknown
    void readiness().then((answer) => (reply = answer))
    await clock.pass(1_999)
    expect(reply).toBeUndefined()
    await clock.pass(1)
    expect(reply).toMatchObject({ ready: false, checks: { database: false, shards: false } })
  })
})
