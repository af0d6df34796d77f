/**
 * A body that is sent as it is made. The server under the edge would end one that fails with the text of its failure, as
 * though that were its last line; so it is never told of a failure:
 *   S1. When the source breaks off, the connection is cut at once, whether anybody is reading or not: what has arrived is
 *       never taken for all there is.
 */
import type { Context } from 'hono'

/** The part of Node's response that is used here. */
interface NodeBindings {
  readonly outgoing?: { readonly destroy?: () => unknown }
}

/** Where there is no connection to cut, as in a test, the failure is the reader's. */
export function streamBody(source: ReadableStream<Uint8Array>, http: Context): ReadableStream<Uint8Array> {
  const { outgoing } = (http.env as NodeBindings | undefined) ?? {}
  if (outgoing?.destroy === undefined) return source
  const cut = (): void => void outgoing.destroy?.()
  const reader = source.getReader()
  reader.closed.catch(cut)
  return new ReadableStream<Uint8Array>({
    pull: async (controller) => {
      try {
        const { done, value } = await reader.read()
        if (done) controller.close()
        else controller.enqueue(value)
      } catch {
        // The connection is cut by now.
        controller.close()
      }
    },
    cancel: (reason) => reader.cancel(reason),
  })
}
