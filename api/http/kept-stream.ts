/**
 * Stores a streamed reply while it is sent, for replays.
 *   T1. The last chunk is sent after the whole is stored: a completely received reply can be replayed.
 *   T2. An interrupted stream is not stored as a reply.
 *   T3. A reply beyond the limit is still sent completely, but not stored any further.
 */
import type { KeptContent } from '../../runtime/ports/idempotency-store.ts'

const PART_BYTES = 262_144
const MAX_KEPT_BYTES = 67_108_864

export interface StreamKeeping {
  readonly keep: (attempt: string, number: number, part: Uint8Array) => Promise<void>
  readonly finish: (content: KeptContent) => Promise<void>
  readonly attempt: string
}

export function keptStream(
  source: ReadableStream<Uint8Array>,
  { keep, finish, attempt }: StreamKeeping,
  maxBytes = MAX_KEPT_BYTES,
): ReadableStream<Uint8Array> {
  const reader = source.getReader()
  let waiting: Uint8Array[] = []
  let waitingBytes = 0
  let totalBytes = 0
  let count = 0
  let held: Uint8Array | undefined
  const flush = async (): Promise<void> => {
    const part = Buffer.concat(waiting)
    waiting = []
    waitingBytes = 0
    await keep(attempt, count, part)
    count += 1
  }
  const take = async (chunk: Uint8Array): Promise<void> => {
    totalBytes += chunk.length
    if (totalBytes > maxBytes) {
      waiting = []
      return
    }
    waiting.push(chunk)
    waitingBytes += chunk.length
    if (waitingBytes >= PART_BYTES) await flush()
  }
  const end = async (): Promise<void> => {
    if (totalBytes > maxBytes) return finish({ kind: 'dropped' })
    if (waiting.length > 0) await flush()
    return finish({ kind: 'parts', attempt, count })
  }
  return new ReadableStream<Uint8Array>(
    {
      start: (controller) => {
        reader.closed.catch((failure: unknown) => controller.error(failure))
      },
      pull: async (controller) => {
        for (;;) {
          const { done, value } = await reader.read()
          if (done) {
            await end()
            if (held !== undefined) controller.enqueue(held)
            controller.close()
            return
          }
          await take(value)
          const before = held
          held = value
          if (before === undefined) continue
          controller.enqueue(before)
          return
        }
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  )
}

export function replayedStream(
  count: number,
  part: (number: number) => Promise<Uint8Array | undefined>,
): ReadableStream<Uint8Array> {
  let number = 0
  return new ReadableStream<Uint8Array>(
    {
      pull: async (controller) => {
        if (number >= count) {
          controller.close()
          return
        }
        const content = await part(number)
        if (content === undefined) throw new Error('a part of a stored reply is missing')
        number += 1
        controller.enqueue(content)
      },
    },
    { highWaterMark: 0 },
  )
}
