/** S1 to S4, at their exact bounds: the state of a shard as operators see it. */
import { describe, expect, test } from 'vitest'
import { SESSION_EXPIRY_MS } from '../../../../../runtime/node/ownership/peers.ts'
import { NODE_DEFAULTS } from '../../../../../runtime/node/ledger-node.ts'
import {
  GIVEN_UP_AFTER_MS,
  healthStateOf,
  SETTLED_AFTER_MS,
  type ShardSigns,
  SILENT_AFTER_MS,
} from '../../../../../runtime/node/ownership/shard-state.ts'

const WELL: ShardSigns = { draining: false, owned: true, ownedForMs: 3_600_000, silentForMs: 0 }

describe('the state of a shard', () => {
  test.for<[Partial<ShardSigns>, string]>([
    [{}, 'healthy'],
    [{ ownedForMs: Infinity }, 'healthy'],
    [{ ownedForMs: 0 }, 'moving'],
    [{ ownedForMs: SETTLED_AFTER_MS - 1 }, 'moving'],
    [{ ownedForMs: SETTLED_AFTER_MS }, 'healthy'],
    [{ silentForMs: SILENT_AFTER_MS - 1 }, 'healthy'],
    [{ silentForMs: SILENT_AFTER_MS }, 'moving'],
    [{ silentForMs: GIVEN_UP_AFTER_MS - 1 }, 'moving'],
    [{ silentForMs: GIVEN_UP_AFTER_MS }, 'unavailable'],
    [{ silentForMs: GIVEN_UP_AFTER_MS, ownedForMs: 0 }, 'unavailable'],
    [{ owned: false }, 'unavailable'],
    [{ owned: false, ownedForMs: 0 }, 'unavailable'],
    [{ draining: true }, 'draining'],
    [{ draining: true, ownedForMs: 0, silentForMs: SILENT_AFTER_MS }, 'draining'],
    [{ draining: true, owned: false }, 'draining'],
  ])('with %j it is %s', ([signs, state]) => {
    expect(healthStateOf({ ...WELL, ...signs })).toBe(state)
  })

  test('an owner that misses two proofs in a row is not held for silent, and one that is dead is, before others take', () => {
    expect(SILENT_AFTER_MS).toBeGreaterThan(2 * NODE_DEFAULTS.renewMs)
    expect(SILENT_AFTER_MS).toBeLessThan(SESSION_EXPIRY_MS)
    expect(GIVEN_UP_AFTER_MS).toBeGreaterThan(SESSION_EXPIRY_MS + 2 * NODE_DEFAULTS.reconcileMs)
  })
})
