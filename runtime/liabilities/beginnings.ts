/**
 * Caches views of the first bytes of a buffer by length. Millions of short messages of few lengths are hashed, and making a
 * view costs almost as much as the hash.
 */
export function createBeginnings(bytes: Buffer): (length: number) => Buffer {
  const views: (Buffer | undefined)[] = Array.from({ length: bytes.length + 1 })
  return (length) => {
    const known = views[length]
    if (known !== undefined) return known
    const made = bytes.subarray(0, length)
    views[length] = made
    return made
  }
}
