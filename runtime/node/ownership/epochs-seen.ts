/** The highest epoch of each shard that this process has seen, wherever: a lower one in the store says that it went back. */
export interface EpochsSeen {
  readonly saw: (shardId: number, epoch: number) => void
  /** 0 for a shard that was never seen. */
  readonly highest: (shardId: number) => number
  /** As of now: what is seen later does not enter it. */
  readonly copy: () => ReadonlyMap<number, number>
}

export function createEpochsSeen(): EpochsSeen {
  const epochs = new Map<number, number>()
  const highest = (shardId: number): number => epochs.get(shardId) ?? 0
  return {
    highest,
    saw: (shardId, epoch) => void epochs.set(shardId, Math.max(epoch, highest(shardId))),
    copy: () => new Map(epochs),
  }
}
