/**
 * Whether a hash stands twice among those of one account. Eight bytes of each are kept: that two of some millions share them
 * by chance is less likely than one in a million, and then the file is refused for nothing.
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

  /** Of all since the last time; then it begins anew. */
  endsWithoutRepeat(): boolean {
    const all = this.prefixes.subarray(0, this.count).sort()
    this.count = 0
    return all.every((prefix, index) => index === 0 || prefix !== all[index - 1])
  }
}
