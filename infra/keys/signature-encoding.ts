/**
 * Signatures as clients send them: base64url or base64, padding optional, of 64-byte r||s or of DER. High S is accepted:
 * half of what OpenSSL signs has it. So two strings may be one signature, and a signature is never an identity.
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

/** What the text may stand for, the likeliest first; nothing when it is garbage. */
export function decodeSignature(text: string): readonly DecodedSignature[] {
  if (text.length > LONGEST_TEXT) return []
  const bytes = decodeBase64(text)
  if (bytes === undefined) return []
  const readings: DecodedSignature[] = []
  if (bytes.length === RAW_BYTES) readings.push({ bytes, encoding: 'ieee-p1363' })
  // 64 bytes can be DER too, if r and s happen to be short: its own length byte says so.
  if (bytes[0] === DER_SEQUENCE && bytes[1] === bytes.length - 2) readings.push({ bytes, encoding: 'der' })
  return readings
}
