/**
 * One sum a shard over the entries of its chains, kept up to date by what is appended: a shard in which nothing was appended
 * costs nothing, and nothing ever has to be read again. Which entries there are says where every chain ends.
 *   T1. A sum is the exclusive or of keyed hashes, one for each entry: of its account's reference, its sequence and its
 *       hash. In which order entries are counted makes no difference.
 *   T2. Hashes and sums are seen by nobody who lacks the key: who knew them could choose entries that cancel out. Where
 *       they are kept they are sealed, and what is published is a keyed hash over all of them.
 *   T3. An entry that was counted and is gone, or is another now, leaves a sum that the entries do not make again.
 */
import { createHmac, hash } from 'node:crypto'
import type { DeriveKey } from '../keys/root-secret.ts'
import { placeOf } from '../vault/place.ts'
import { openText, sealTextBytes } from '../vault/sealed-text.ts'

export interface CheckpointKeys {
  readonly chains: Buffer
  readonly sums: Buffer
}

const SUM_BYTES = 32

export function checkpointKeys(derive: DeriveKey): CheckpointKeys {
  return { chains: derive('checkpoint-chains'), sums: derive('checkpoint-sums') }
}

export class ChainSums {
  private readonly key: Buffer
  private readonly prefix: string
  private readonly sums: Buffer

  private constructor(keys: CheckpointKeys, sums: Buffer) {
    this.key = keys.chains
    this.prefix = `${keys.chains.toString('hex')}\u001f`
    this.sums = sums
  }

  /** Of no entry at all. */
  static empty(keys: CheckpointKeys, shardCount: number): ChainSums {
    return new ChainSums(keys, Buffer.alloc(shardCount * SUM_BYTES))
  }

  /** Throws an Error when the bytes are not those that `seal` gave for this checkpoint. */
  static open(keys: CheckpointKeys, shardCount: number, number: number, sealed: Uint8Array): ChainSums {
    const sums = Buffer.from(openText(keys.sums, placeOf('checkpoints', number), sealed), 'base64')
    if (sums.length !== shardCount * SUM_BYTES) throw new Error('the sums of a checkpoint are of other shards')
    return new ChainSums(keys, sums)
  }

  /** `entry`: reference, sequence and hash as one text. Throws an Error for a shard that the ledger does not have. */
  add(shardId: number, entry: string): void {
    const at = shardId * SUM_BYTES
    if (at < 0 || at >= this.sums.length) {
      throw new Error(`there is an entry in a shard ${shardId} that the ledger does not have`)
    }
    const print = hash('sha256', this.prefix + entry, 'buffer')
    for (let index = 0; index < SUM_BYTES; index += 1) {
      this.sums[at + index] = (this.sums[at + index] ?? 0) ^ (print[index] ?? 0)
    }
  }

  /** What is published. */
  digest(): string {
    const keyed = createHmac('sha256', this.key).update('chains of all shards\u001f').update(this.sums)
    return `sha256:${keyed.digest('hex')}`
  }

  seal(keys: CheckpointKeys, number: number): Buffer {
    return sealTextBytes(keys.sums, placeOf('checkpoints', number), this.sums.toString('base64'))
  }

  differingShards(other: ChainSums): readonly number[] {
    const shards: number[] = []
    for (let at = 0; at < this.sums.length; at += SUM_BYTES) {
      const end = at + SUM_BYTES
      if (!this.sums.subarray(at, end).equals(other.sums.subarray(at, end))) shards.push(at / SUM_BYTES)
    }
    return shards
  }
}
