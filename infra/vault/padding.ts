/**
 * Pads texts to one of few lengths, so that the size of a row does not reveal the digits of a balance. Every text is JSON,
 * which ends with a bracket, so the spaces after it are padding.
 */

/** Length unit in bytes. Long texts grow by at most a quarter. */
const STEP = 256
const LONG = 16 * STEP
const PADDING = ' '
/** Bytes of a transaction, or of a message about one, with up to 512 bytes of metadata. */
const WITH_METADATA = 6 * STEP

export function paddedBytes(bytes: number): number {
  const step = bytes < LONG ? STEP : LONG / 4
  return bytes + ((step - (bytes % step)) % step)
}

export function padded(text: string): string {
  const bytes = Buffer.byteLength(text, 'utf8')
  return text + PADDING.repeat(paddedBytes(bytes) - bytes)
}

/** Pads a text so that all metadata of up to 512 bytes gives the same length. */
export function withRoomForMetadata(text: string): string {
  return text + PADDING.repeat(Math.max(0, WITH_METADATA - Buffer.byteLength(text, 'utf8')))
}

export function unpadded(text: string): string {
  let end = text.length
  while (end > 0 && text.charCodeAt(end - 1) === 0x20) end -= 1
  return end === text.length ? text : text.slice(0, end)
}
