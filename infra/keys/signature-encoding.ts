/**
 * Decodes signatures of clients: base64url or base64, padding optional, of 64-byte r||s or of DER. High S is accepted, because
 * half of the signatures of OpenSSL have it. Signatures are malleable, so they never serve as an identity.
 */
import { decodeBase64 } from './base64.ts'

export interface DecodedSignature {
  readonly bytes: Buffer
  readonly encoding: 'ieee-p1363' | 'der'
}

const RAW_BYTES = 64
/** SEQUENCE of two INTEGERs of at most 33 bytes. */
const LONGEST_DER_BYTES = 72
const LONGEST_TEXT = 4 * Math.ceil(LONGEST_DER_BYTES / 3)
const DER_SEQUENCE = 0x30

/** Whether the text is a well-formed signature. */
export function isSignature(text: string): boolean {
  return decodeSignature(text).length > 0
}

/** The possible readings, the likeliest first; empty if the text is malformed. */
export function decodeSignature(text: string): readonly DecodedSignature[] {
  if (text.length > LONGEST_TEXT) return []
  const bytes = decodeBase64(text)
  if (bytes === undefined) return []
  const readings: DecodedSignature[] = []
  if (bytes.length === RAW_BYTES) readings.push({ bytes, encoding: 'ieee-p1363' })
  // 64 bytes can also be DER, if r and s are short.
  if (bytes[0] === DER_SEQUENCE && bytes[1] === bytes.length - 2) readings.push({ bytes, encoding: 'der' })
  return readings
}
