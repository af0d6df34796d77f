/** A stream of the chunks, which then ends, or fails with `failure`. */
export function streamOf(chunks: readonly string[], failure?: Error): ReadableStream<Uint8Array> {
  const waiting = [...chunks]
  return new ReadableStream({
    pull: (controller) => {
      const next = waiting.shift()
      if (next !== undefined) return controller.enqueue(Buffer.from(next))
      if (failure === undefined) controller.close()
      else controller.error(failure)
    },
  })
}
