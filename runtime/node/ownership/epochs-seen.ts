/** The highest epoch of each shard that this process has seen: a lower one in the store means that it was rewound. */
export class EpochsSeen {
  private readonly epochs = new Map<number, number>()

  saw(shardId: number, epoch: number): void {
    this.epochs.set(shardId, Math.max(epoch, this.highest(shardId)))
  }

  /** 0 for an unknown shard. */
  highest(shardId: number): number {
    return this.epochs.get(shardId) ?? 0
  }

  copy(): ReadonlyMap<number, number> {
    return new Map(this.epochs)
  }
}
