/**
 * Texts of equal length whatever they say: a balance's digits must not be countable from outside. Every text is JSON, which
 * ends with a bracket: the spaces behind it belong to nobody.
 */

/** Short texts have one of few lengths; of long ones at most a quarter is added. */
const STEP = 256
const LONG = 16 * STEP
const PADDING = ' '
/** Bytes of a transaction, or of a message about one, with up to 512 bytes of metadata. */
const WITH_METADATA = 6 * STEP

/** Of a text of so many bytes, with the spaces behind it. */
export function paddedBytes(bytes: number): number {
  const step = bytes < LONG ? STEP : LONG / 4
  return bytes + ((step - (bytes % step)) % step)
}

export function padded(text: string): string {
  const bytes = Buffer.byteLength(text, 'utf8')
  return text + PADDING.repeat(paddedBytes(bytes) - bytes)
}

/** A text with metadata in it, which has one length for all metadata of up to 512 bytes. */
export function withRoomForMetadata(text: string): string {
  return text + PADDING.repeat(Math.max(0, WITH_METADATA - Buffer.byteLength(text, 'utf8')))
}

export function unpadded(text: string): string {
  let end = text.length
  while (end > 0 && text.charCodeAt(end - 1) === 0x20) end -= 1
  return end === text.length ? text : text.slice(0, end)
}
