/**
 * One sum per shard over the entries of its chains. Only new entries are read to update it.
 *   T1. A sum is the exclusive or of one keyed hash per entry: of the account's reference, the sequence and the entry's
 *       hash. The order of the entries does not matter.
 *   T2. Hashes and sums are secret: an attacker with the hashes could choose entries that cancel out. They are stored sealed, and only
 *       a keyed hash over all sums is published.
 *   T3. If a counted entry is removed or changed, the entries no longer give the same sum.
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

  static empty(keys: CheckpointKeys, shardCount: number): ChainSums {
    return new ChainSums(keys, Buffer.alloc(shardCount * SUM_BYTES))
  }

  /** Throws an Error unless `seal` made the bytes for this checkpoint. */
  static open(keys: CheckpointKeys, shardCount: number, number: number, sealed: Uint8Array): ChainSums {
    const sums = Buffer.from(openText(keys.sums, placeOf('checkpoints', number), sealed), 'base64')
    if (sums.length !== shardCount * SUM_BYTES) throw new Error('the checkpoint has sums for another number of shards')
    return new ChainSums(keys, sums)
  }

  /** `entry`: reference, sequence and hash, separated by spaces. Throws an Error for a shard outside the ledger. */
  add(shardId: number, entry: string): void {
    const at = shardId * SUM_BYTES
    if (at < 0 || at >= this.sums.length) {
      throw new Error(`an entry names shard ${shardId}, which the ledger does not have`)
    }
    const print = hash('sha256', this.prefix + entry, 'buffer')
    for (let index = 0; index < SUM_BYTES; index += 1) {
      this.sums[at + index] = (this.sums[at + index] ?? 0) ^ (print[index] ?? 0)
    }
  }

  /** The published keyed hash (T2). */
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
