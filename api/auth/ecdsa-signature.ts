/** Signatures as JWS wants them (RFC 7518, 3.4) out of what the service's keys give. */
const HALF_BYTES = 32
const SEQUENCE = 0x30
const INTEGER = 0x02

/** A P-256 signature in DER as 64 bytes `r || s`. Throws when it is none: our own keys do not write such. */
export function rawSignature(der: Uint8Array): Buffer {
  if (der[0] !== SEQUENCE || der[1] !== der.length - 2) throw new Error('a signature is not DER')
  const raw = Buffer.alloc(2 * HALF_BYTES)
  const second = placeInteger(der, 2, raw.subarray(0, HALF_BYTES))
  if (placeInteger(der, second, raw.subarray(HALF_BYTES)) !== der.length) throw new Error('a signature is not DER')
  return raw
}

/** Writes the integer at `start` right-aligned into `target`; returns where the next one begins. */
function placeInteger(der: Uint8Array, start: number, target: Buffer): number {
  const length = der[start + 1]
  if (der[start] !== INTEGER || length === undefined) throw new Error('a signature is not DER')
  const end = start + 2 + length
  let digits = der.subarray(start + 2, end)
  while (digits.length > target.length && digits[0] === 0) digits = digits.subarray(1)
  if (digits.length > target.length || end > der.length) throw new Error('a signature is not DER')
  target.set(digits, target.length - digits.length)
  return end
}
