/**
 * Finds a repeated hash among those of one account. Eight bytes of each hash are kept. Among millions of hashes, the chance
 * of a collision, which would refuse a correct file, is below one in a million.
 */

const FIRST_CAPACITY = 4_096

export class SeenHashes {
  private prefixes = new BigUint64Array(FIRST_CAPACITY)
  private count = 0

  /** Base64url of 32 bytes. */
  add(hash: string): void {
    if (this.count === this.prefixes.length) {
      const larger = new BigUint64Array(2 * this.count)
      larger.set(this.prefixes)
      this.prefixes = larger
    }
    this.prefixes[this.count] = Buffer.from(hash, 'base64url').readBigUInt64BE()
    this.count += 1
  }

  /** Checks all hashes since the last call, then clears them. */
  endsWithoutRepeat(): boolean {
    const all = this.prefixes.subarray(0, this.count).sort()
    this.count = 0
    return all.every((prefix, index) => index === 0 || prefix !== all[index - 1])
  }
}
