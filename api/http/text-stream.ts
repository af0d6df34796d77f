/**
 * Texts as one body, at the reader's pace.
 *   T1. The next text is not made before it is asked for: a slow reader slows the making, and nothing piles up.
 *   T2. A reader who takes nothing for 60 s is cut off: what a body holds while it is sent, it holds for a bounded time.
 *   T3. It ends once, and says how: what was held for it is given back exactly then.
 */
import { type Clock, type Timer } from '../../runtime/ports/clock.ts'

export const STALLED_AFTER_MS = 60_000

/** `sent`: complete. `left`: the reader is gone. `stalled`: T2. `broken`: a part could not be made. */
export type StreamEnd = 'sent' | 'left' | 'stalled' | 'broken'

/** The reader sees that the body was cut off. */
export class StreamStalled extends Error {
  override readonly name = 'StreamStalled'
}

/** `texts`: not begun; none of them empty. `ended`: does not throw. */
export function streamTexts(
  texts: AsyncIterator<string, void, undefined>,
  clock: Pick<Clock, 'after'>,
  ended: (end: StreamEnd) => void,
): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder()
  let isOver = false
  let waiting: Timer | undefined
  const end = (how: StreamEnd): void => {
    if (isOver) return
    isOver = true
    waiting?.cancel()
    ended(how)
  }
  const waitForReader = (controller: ReadableStreamDefaultController<Uint8Array>): void => {
    waiting = clock.after(STALLED_AFTER_MS, () => {
      end('stalled')
      controller.error(new StreamStalled('The reader took nothing for too long.'))
    })
  }
  return new ReadableStream<Uint8Array>(
    {
      start: waitForReader,
      pull: async (controller) => {
        waiting?.cancel()
        try {
          const next = await texts.next()
          if (isOver) return
          if (next.done === true) {
            end('sent')
            controller.close()
            return
          }
          controller.enqueue(encoder.encode(next.value))
          waitForReader(controller)
        } catch (failure) {
          if (isOver) return
          end('broken')
          controller.error(failure)
        }
      },
      cancel: () => end('left'),
    },
    // T1: without it one text would be made ahead.
    { highWaterMark: 0 },
  )
}
