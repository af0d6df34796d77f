/**
 * Gives shards away in order: offers, drains, releases and announces each, so that the next owner serves it at once.
 *   V1. A shard is released only when its mailbox is empty: every accepted command is committed or has its verdict.
 *   V2. The successor acquires the shard like any other node: a false or late announcement gives no right.
 *   V3. A successor that refuses, or does not confirm that it serves, costs time only: the shard is free.
 *   V4. A node that stays gives a shard only to a node that would take it: any healthy owner is better than none.
 */
import { appendTo } from '../../common/append-to.ts'
import type { LeaseStore } from '../../ports/lease-store.ts'
import type { LedgerStore } from '../../ports/ledger-store.ts'
import type { EpochsSeen } from './epochs-seen.ts'
import { inParallel } from '../../common/in-parallel.ts'
import type { NodeCalls } from './node-calls.ts'
import type { NodeContext } from '../shard/node-context.ts'
import type { ShardHost } from '../host/shard-host.ts'
import { reasonOf } from '../../common/reason.ts'

export interface HandOverDependencies extends Pick<NodeContext, 'log' | 'metrics'> {
  readonly store: Pick<LedgerStore, 'release'>
  readonly leases: Pick<LeaseStore, 'hint'>
  readonly host: Pick<ShardHost, 'drain' | 'drop' | 'serving'>
  readonly calls: Pick<NodeCalls, 'offer' | 'released'>
  readonly epochs: Pick<EpochsSeen, 'saw'>
}

const DRAIN_TIMEOUT_MS = 2_000

/** The session that should own each shard next, if known. */
type Successors = ReadonlyMap<number, string>
export type HandOver = ReturnType<typeof createHandOver>

export function createHandOver(dependencies: HandOverDependencies) {
  const { store, leases, host, calls, log, metrics, epochs } = dependencies

  const notGiven = (shardId: number | undefined, error: unknown): void => {
    log.warn('shard_not_given', { shard: shardId, cause: reasonOf(error) })
  }

  async function offer(shardIds: readonly number[], successors: Successors): Promise<Successors> {
    const offers = new Map<string, number[]>()
    for (const shardId of shardIds) {
      const successor = successors.get(shardId)
      if (successor !== undefined) appendTo(offers, successor, shardId)
    }
    const willing = new Map<number, string>()
    await inParallel(
      [...offers],
      async ([successor, offered]) => {
        for (const shardId of await calls.offer(successor, offered)) willing.set(shardId, successor)
      },
      ([, offered], error) => notGiven(offered[0], error),
    )
    return willing
  }

  async function giveAway(shardId: number, successor: string | undefined): Promise<void> {
    const token = await host.drain(shardId, DRAIN_TIMEOUT_MS)
    if (token === undefined) return
    const released = await store.release(token).catch(() => false)
    host.drop(shardId)
    if (!released) return
    const epoch = token.epoch + 1
    epochs.saw(shardId, epoch)
    if (successor !== undefined && (await calls.released(successor, shardId, epoch))) {
      metrics?.moves('handed_over', 1)
      return
    }
    metrics?.moves('released', 1)
    void leases.hint({ shardId, nodeId: null, session: null, epoch }).catch(() => undefined)
  }

  async function give(shardIds: readonly number[], willing: Successors): Promise<void> {
    if (shardIds.length === 0) return
    await inParallel(shardIds, (shardId) => giveAway(shardId, willing.get(shardId)), notGiven)
    log.info('shards_released', { released: shardIds.length, owned: host.serving().size })
  }

  return {
    giveAllAway: async (shardIds: readonly number[], successors: Successors): Promise<void> =>
      give(shardIds, await offer(shardIds, successors)),
    /** To place shards better: a shard that no other node would take at once stays here (V4). */
    giveToWilling: async (shardIds: readonly number[], successors: Successors): Promise<void> => {
      const willing = await offer(shardIds, successors)
      await give([...willing.keys()], willing)
    },
  }
}
