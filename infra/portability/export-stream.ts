/**
 * Lines as bytes, at the pace of whoever reads them.
 *   B1. It ends once: when all was given, when the reader has had enough, or when it broke; then it is an error to the reader,
 *       also to one who is not reading at that moment.
 */
import { setImmediate } from 'node:timers/promises'
import { ExportsUnavailable } from '../../runtime/ports/ledger-exports.ts'
import type { Snapshot } from './export-snapshot.ts'

/** Lines are gathered up to here. */
const CHUNK_LENGTH = 65_536
/** Rows are in memory many at a time, and each is work: what else the process has to do must not wait for all of them. */
const LONGEST_TURN_MS = 5

/** The reader has had enough. */
export class ExportCancelled extends Error {
  override readonly name = 'ExportCancelled'
}

/** `ended`: undefined, or what broke it off. It must close the snapshot. */
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
        const failure = new ExportsUnavailable('The look at the ledger was lost, or took too long.')
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
    cancel: () => end(new ExportCancelled('Nobody reads the export any more.')),
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

/** Lets others have their turn once one of ours has been long. */
function createTurns(): () => Promise<void> {
  let beganMs = performance.now()
  return async () => {
    if (performance.now() - beganMs < LONGEST_TURN_MS) return
    await setImmediate()
    beganMs = performance.now()
  }
}
