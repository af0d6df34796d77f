/**
 * Strict base64 (RFC 4648): one of the two alphabets, optional complete padding, no white space, and no set bits after the
 * last byte. The decoder of Node.js skips unknown characters and would accept garbage.
 */
const ALPHABETS = /^(?:[A-Za-z0-9+/]*|[A-Za-z0-9_-]*)(={0,2})$/

/** Returns undefined if the text is not base64. The empty text decodes to zero bytes. */
export function decodeBase64(text: string): Buffer | undefined {
  const padding = ALPHABETS.exec(text)?.[1]?.length
  if (padding === undefined || (padding > 0 && text.length % 4 !== 0)) return undefined
  const bytes = Buffer.from(text, 'base64url')
  const canonical = bytes.toString('base64url')
  const bare = text.slice(0, text.length - padding)
  return bare.replaceAll('+', '-').replaceAll('/', '_') === canonical ? bytes : undefined
}
