/**
 * Views of the first bytes of a buffer, by their number: what is hashed a million times differs in its bytes, hardly in its
 * length, and a new view costs almost as much as hashing it.
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
