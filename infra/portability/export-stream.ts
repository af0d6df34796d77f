/**
 * A byte stream of lines, at the pace of its reader.
 *   B1. It ends exactly once: after the last line, when the reader cancels, or with a failure. A failure reaches the reader
 *       even if it is not reading at that moment.
 */
import { setImmediate } from 'node:timers/promises'
import { ExportsUnavailable } from '../../runtime/ports/ledger-exports.ts'
import type { Snapshot } from './export-snapshot.ts'

/** Characters per chunk. */
const CHUNK_LENGTH = 65_536
/** Longest time between two yields to the event loop. */
const LONGEST_TURN_MS = 5

/** The reader cancelled the stream. */
export class ExportCancelled extends Error {
  override readonly name = 'ExportCancelled'
}

/** `ended` gets the failure, or undefined after the last line. It must close the snapshot. */
export function contentOf(
  lines: AsyncGenerator<string, void, undefined>,
  snapshot: Pick<Snapshot, 'onLost'>,
  ended: (failure: unknown) => void,
): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder()
  const takeTurns = createTurns()
  let isOver = false
  const end = (failure: unknown): void => {
    if (isOver) return
    isOver = true
    ended(failure)
  }
  return new ReadableStream<Uint8Array>({
    start: (controller) =>
      snapshot.onLost(() => {
        if (isOver) return
        const failure = new ExportsUnavailable('The snapshot of the ledger was lost or reached its deadline.')
        end(failure)
        controller.error(failure)
      }),
    pull: async (controller) => {
      try {
        const { text, isLast } = await gather(lines, takeTurns)
        if (isOver) return
        if (text !== '') controller.enqueue(encoder.encode(text))
        if (!isLast) return
        end(undefined)
        controller.close()
      } catch (failure) {
        if (isOver) return
        end(failure)
        controller.error(failure)
      }
    },
    cancel: () => end(new ExportCancelled('The client closed the export.')),
  })
}

async function gather(
  lines: AsyncGenerator<string, void, undefined>,
  takeTurns: () => Promise<void>,
): Promise<{ readonly text: string; readonly isLast: boolean }> {
  let text = ''
  while (text.length < CHUNK_LENGTH) {
    const next = await lines.next()
    if (next.done === true) return { text, isLast: true }
    text += next.value
    await takeTurns()
  }
  return { text, isLast: false }
}

/** Yields to the event loop after LONGEST_TURN_MS. */
function createTurns(): () => Promise<void> {
  let beganMs = performance.now()
  return async () => {
    if (performance.now() - beganMs < LONGEST_TURN_MS) return
    await setImmediate()
    beganMs = performance.now()
  }
}
