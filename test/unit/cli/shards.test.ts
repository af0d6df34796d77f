import { expect, test } from 'vitest'
import { shardSummary } from '../../../infra/cli/shards.ts'

test('ledger shards prints ranges of the shards that are not healthy', () => {
  const shards = Array.from({ length: 10 }, (_, shardId) => ({
    shardId,
    owner: shardId < 5 ? null : 'node-1',
    healthState: shardId < 5 ? ('unavailable' as const) : shardId === 7 ? ('draining' as const) : ('healthy' as const),
  }))
  expect(shardSummary(shards)).toBe(
    [
      '(no owner): 5 of 10 shards (5 unavailable)',
      'node-1: 5 of 10 shards (4 healthy, 1 draining)',
      'not healthy: unavailable 0-4; draining 7',
      '',
    ].join('\n'),
  )
  expect(shardSummary(shards.filter(({ healthState }) => healthState === 'healthy'))).not.toContain('not healthy')
})
