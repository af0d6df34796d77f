/**
 * F3: releases that cannot read each other's bodies refuse them and park the channels between them, without further
 * harm. After all are upgraded, every request ends and every invariant holds. Every other run checks that adjacent releases
 * refuse nothing (cluster-wires.ts).
 */
import { expect, test } from 'vitest'
import { runCluster } from './cluster/cluster.ts'
import { planOf } from './plan.ts'

const SEEDS = Array.from({ length: 20 }, (_, index) => index + 1)
const TIMEOUT_MS = 600_000

test(
  'I1-I12 hold while releases two versions apart run beside each other, and after all are upgraded',
  async () => {
    const seen = new Map<string, number>()
    for (const seed of SEEDS) {
      const { counters } = await runCluster({ plan: planOf(seed), wires: 'apart' })
      for (const [name, count] of counters) seen.set(name, (seen.get(name) ?? 0) + count)
    }
    for (const demanded of [
      'log:version_unsupported',
      'log:channel_parked',
      'wire:2 unread by 1',
      'wire:1 read by 2',
    ]) {
      expect([demanded, (seen.get(demanded) ?? 0) > 0]).toEqual([demanded, true])
    }
    expect(seen.get('log:shard_quarantined')).toBeUndefined()
  },
  TIMEOUT_MS,
)
