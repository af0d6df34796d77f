/** Reads a file line by line in bounded memory. */
import { createReadStream } from 'node:fs'

/** Longer than any record of an export. */
const LONGEST_LINE_BYTES = 1_048_576

/** The file is not a sequence of UTF-8 lines. The message names the line, counted from 0. */
export class LinesBroken extends Error {
  override readonly name = 'LinesBroken'
}

const LINE_FEED = 0x0a

/** Yields lines without their line feeds. The last line needs one, too. Throws LinesBroken or a file system error. */
export async function* linesOf(path: string): AsyncGenerator<string, void, undefined> {
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
  const parts: Buffer[] = []
  let heldBytes = 0
  let number = 0
  const textOf = (bytes: Uint8Array): string => {
    try {
      return decoder.decode(bytes)
    } catch (cause) {
      throw new LinesBroken(`line ${number} is not UTF-8`, { cause })
    }
  }
  for await (const chunk of createReadStream(path) as AsyncIterable<Buffer>) {
    let from = 0
    for (;;) {
      const end = chunk.indexOf(LINE_FEED, from)
      const part = chunk.subarray(from, end < 0 ? undefined : end)
      heldBytes += part.length
      if (heldBytes > LONGEST_LINE_BYTES) throw new LinesBroken(`line ${number} is longer than any record`)
      parts.push(part)
      if (end < 0) break
      yield textOf(parts.length === 1 ? part : Buffer.concat(parts))
      parts.length = 0
      heldBytes = 0
      number += 1
      from = end + 1
    }
  }
  if (heldBytes > 0) throw new LinesBroken(`line ${number} is cut off: it has no line feed`)
}
