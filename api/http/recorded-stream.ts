/**
 * The body of an act's reply that is sent as it is made: its end is the outcome of the act.
 *   R1. `ended` is called exactly once: the body was complete, or broke off, or its reader left.
 *   R2. A reader sees a complete end only after `ended`. A body that breaks off does so at once.
 */
import { createHash } from 'node:crypto'
import { showHash } from '../../actors/audit-chain.ts'
import type { JsonObject } from '../../actors/canonical-json.ts'

export function recordedStream(
  source: ReadableStream<Uint8Array>,
  ended: (outcome: JsonObject) => Promise<void>,
): ReadableStream<Uint8Array> {
  const reader = source.getReader()
  const hash = createHash('sha256')
  let bytes = 0
  let isOver = false
  const end = async (outcome: 'complete' | 'incomplete'): Promise<void> => {
    if (isOver) return
    isOver = true
    await ended({ outcome, bytes, content_hash: showHash(hash.digest('hex')) })
  }
  return new ReadableStream<Uint8Array>(
    {
      start: (controller) => {
        reader.closed.catch((failure: unknown) => {
          controller.error(failure)
          return end('incomplete')
        })
      },
      pull: async (controller) => {
        const { done, value } = await reader.read()
        if (isOver) return
        if (done) {
          await end('complete')
          controller.close()
          return
        }
        hash.update(value)
        bytes += value.length
        controller.enqueue(value)
      },
      cancel: async (reason) => {
        // In this order: the cancelled source ends a read in progress as if the body were complete.
        const recorded = end('incomplete')
        await reader.cancel(reason)
        await recorded
      },
    },
    { highWaterMark: 0 },
  )
}
