/** Shard health in memory, which other tests rely on, held to the contract of the real one. */
import { createMemoryShardHealth, createMemoryShardState } from '../support/memory/shard-health-memory.ts'
import { CONTRACT_SHARDS, shardHealthContract } from './shard-health.contract.ts'

shardHealthContract('in memory', async () => {
  const state = createMemoryShardState(CONTRACT_SHARDS, 1_790_000_000_000)
  return {
    health: createMemoryShardHealth(state),
    other: createMemoryShardHealth(state),
    stage: async ({ shardId, owner, epoch, ownedForMs, silentForMs, completed, failed }) => {
      const updatedAtMs = state.nowMs - ownedForMs
      state.shards.set(shardId, { owner, epoch, ownedForMs, silentForMs, txnCount: completed + failed, updatedAtMs })
    },
    close: async () => undefined,
  }
})
