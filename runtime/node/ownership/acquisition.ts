/**
 * Takes one shard: acquire, load, serve, announce. The order matters: another node's commit could be missing otherwise.
 *   Q1. One acquisition of a shard runs at a time: the loop and a former owner's call may start one together.
 *   Q2. A node that began to leave meanwhile returns the shard, since its hand-over would no longer include it.
 */
import { delay } from '../../ports/clock.ts'
import type { LeaseStore } from '../../ports/lease-store.ts'
import type { ShardStart } from '../../ports/ledger-store.ts'
import type { EpochsSeen } from './epochs-seen.ts'
import type { NodeContext } from '../shard/node-context.ts'
import type { ShardHost } from '../host/shard-host.ts'

export interface AcquisitionDependencies extends Pick<NodeContext, 'session' | 'store' | 'clock' | 'metrics' | 'rare'> {
  readonly nodeId: string
  readonly leases: Pick<LeaseStore, 'hint'>
  readonly host: Pick<ShardHost, 'serve'>
  readonly epochs: EpochsSeen
  readonly isLeaving: () => boolean
}

/**
 * `locked`: a commit that does not end holds the shard's row. `not_taken`: another node was first, or this node leaves.
 */
export type AcquisitionResult = 'served' | 'locked' | 'not_taken'

export type Acquisition = ReturnType<typeof createAcquisition>

const LOADED_LATE_MS = 500

export function createAcquisition(dependencies: AcquisitionDependencies) {
  const { nodeId, session, store, leases, host, clock, metrics, rare, epochs, isLeaving } = dependencies
  const taking = new Set<number>()

  async function acquireAlone(shardId: number, seenEpoch: number): Promise<AcquisitionResult> {
    const nextEpoch = Math.max(seenEpoch, epochs.highest(shardId)) + 1
    const result = await store.acquire(shardId, seenEpoch, nextEpoch)
    if (result.kind === 'locked') return 'locked'
    if (result.kind === 'lost') return 'not_taken'
    epochs.saw(shardId, nextEpoch)
    let start: ShardStart | undefined
    if (!isLeaving()) {
      if (rare.takes('loaded_late')) await delay(clock, LOADED_LATE_MS)
      start = await store.openShard(shardId)
    }
    if (start === undefined || isLeaving()) {
      await store.release(result.token)
      return 'not_taken'
    }
    host.serve(result.token, start)
    metrics?.moves('acquired', 1)
    void leases.hint({ shardId, nodeId, session, epoch: nextEpoch }).catch(() => undefined)
    return 'served'
  }

  return {
    isTaking: (shardId: number): boolean => taking.has(shardId),
    /** Takes a shard that was seen in this epoch. Rejects if the store fails. */
    acquire: async (shardId: number, seenEpoch: number): Promise<AcquisitionResult> => {
      if (isLeaving() || taking.has(shardId)) return 'not_taken'
      taking.add(shardId)
      try {
        return await acquireAlone(shardId, seenEpoch)
      } finally {
        taking.delete(shardId)
      }
    },
  }
}
