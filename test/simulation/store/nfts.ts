/** The histories of NFTs in the simulated database: entries are added and never changed. */
import type { NftEvent } from '../../../actors/nft-instance/state.ts'
import type { NftEventWrite, ShardBatch } from '../../../runtime/ports/ledger-store.ts'
import { broken, copyShard, push, type RowRefusal } from './table.ts'

export class NftEventTable {
  /** By shard and NFT. */
  private readonly rows = new Map<string, NftEvent[]>()

  /** Oldest first. */
  history(shardId: number, nftId: string): readonly NftEvent[] {
    const events = this.rows.get(`${shardId} ${nftId}`) ?? []
    return events.toSorted((left, right) => left.number - right.number).map(copyOf)
  }

  all(): readonly NftEventWrite[] {
    return [...this.rows].flatMap(([at, events]) =>
      events.map((event) => ({ nftId: at.slice(at.indexOf(' ') + 1), event })),
    )
  }

  check({ token: { shardId }, nftEvents }: ShardBatch): RowRefusal | undefined {
    const added = new Set<string>()
    for (const { nftId, event } of nftEvents) {
      const at = `${shardId} ${nftId} ${event.number}`
      const known = this.history(shardId, nftId).some(({ number }) => number === event.number)
      if (known || added.has(at)) return broken(`${at}: the entry exists`)
      if (event.number < 0) return broken(`${at}: an entry before the first`)
      added.add(at)
    }
    return undefined
  }

  apply({ token: { shardId }, nftEvents }: ShardBatch): void {
    for (const { nftId, event } of nftEvents) push(this.rows, `${shardId} ${nftId}`, copyOf(event))
  }

  copyShard(shardId: number, copy: NftEventTable): void {
    copyShard(this.rows, copy.rows, shardId, (events) => [...events])
  }
}

/** Texts to check for values that the tables refuse (F2). */
export function textsOf({ nftId, event }: NftEventWrite): readonly (string | null)[] {
  return [nftId, event.from, event.to, event.txnId]
}

function copyOf(event: NftEvent): NftEvent {
  return { ...event }
}
