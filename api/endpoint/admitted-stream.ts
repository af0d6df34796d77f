/**
 * A body whose parts are sent only while the client is still admitted (E3).
 *   A1. It is asked before each part is given whether that is so; if not, the body breaks off, and its source is told to end.
 *   A2. It breaks off with its source, whether anybody is reading or not.
 */
import type { GuardedCall } from './route.ts'

/** The client is not admitted any more: its body ends here. */
export class NotAdmitted extends Error {
  override readonly name = 'NotAdmitted'
}

/** Whether the client may still read under the scope of the original request. */
export function sameAdmission({ admitAgain, scope }: GuardedCall): () => Promise<boolean> {
  return async () => {
    const grant = await admitAgain()
    return grant.ok && grant.value.scope.text === scope.text
  }
}

export function admittedStream(
  source: ReadableStream<Uint8Array>,
  isAdmitted: () => Promise<boolean>,
): ReadableStream<Uint8Array> {
  const reader = source.getReader()
  return new ReadableStream<Uint8Array>(
    {
      start: (controller) => {
        reader.closed.catch((failure: unknown) => controller.error(failure))
      },
      pull: async (controller) => {
        const { done, value } = await reader.read()
        if (done) {
          controller.close()
        } else if (await isAdmitted()) {
          controller.enqueue(value)
        } else {
          controller.error(new NotAdmitted('The client may not have the rest.'))
          await reader.cancel()
        }
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  )
}
