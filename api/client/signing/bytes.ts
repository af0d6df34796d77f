/** Texts and bytes, for browsers and Node.js alike. */

/** The views over plain memory that WebCrypto takes. */
export type Bytes = Uint8Array<ArrayBuffer>

const encoder = new TextEncoder()

export function utf8(text: string): Bytes {
  return new Uint8Array(encoder.encode(text))
}

export function concat(...parts: readonly Uint8Array[]): Bytes {
  const whole = new Uint8Array(parts.reduce((length, part) => length + part.length, 0))
  let at = 0
  for (const part of parts) {
    whole.set(part, at)
    at += part.length
  }
  return whole
}

/** Standard alphabet, with padding. */
export function base64(bytes: Uint8Array): string {
  return btoa(Array.from(bytes, (byte) => String.fromCodePoint(byte)).join(''))
}

/** Without padding. */
export function base64url(bytes: Uint8Array): string {
  return base64(bytes).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')
}

/** Either alphabet, with or without padding; undefined for any other text. */
export function fromBase64(text: string): Bytes | undefined {
  try {
    const binary = atob(text.replaceAll('-', '+').replaceAll('_', '/'))
    return Uint8Array.from(binary, (character) => character.codePointAt(0) ?? 0)
  } catch {
    return undefined
  }
}

/** Lower case. */
export function hex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}

/** Undefined unless the text is `length` bytes in lower-case hexadecimal. */
export function fromHex(text: string, length: number): Bytes | undefined {
  if (text.length !== 2 * length || !/^[0-9a-f]*$/.test(text)) return undefined
  return Uint8Array.from({ length }, (_, index) => Number.parseInt(text.slice(2 * index, 2 * index + 2), 16))
}

export async function sha256(bytes: Bytes): Promise<Bytes> {
  return new Uint8Array(await crypto.subtle.digest('SHA-256', bytes))
}

/** `sha256:` and 64 hexadecimal digits. */
export async function shownSha256(text: string): Promise<string> {
  return `sha256:${hex(await sha256(utf8(text)))}`
}
