/**
 * Strict base64 (RFC 4648): either alphabet but not a mixture, padding optional but complete, no white space, and no
 * set bits behind the last byte. Node's own decoder skips what it does not know, so that garbage would decode.
 */
const ALPHABETS = /^(?:[A-Za-z0-9+/]*|[A-Za-z0-9_-]*)(={0,2})$/

/** The bytes, or undefined when the text is not base64. The empty text is no bytes. */
export function decodeBase64(text: string): Buffer | undefined {
  const padding = ALPHABETS.exec(text)?.[1]?.length
  if (padding === undefined || (padding > 0 && text.length % 4 !== 0)) return undefined
  const bytes = Buffer.from(text, 'base64url')
  const canonical = bytes.toString('base64url')
  const bare = text.slice(0, text.length - padding)
  return bare.replaceAll('+', '-').replaceAll('/', '_') === canonical ? bytes : undefined
}
