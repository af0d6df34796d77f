/** Reads a stream of server-sent events (WHATWG HTML, 9.2) whose lines end with a line feed, as those of an edge do. */

/** A block of lines. null: the block has no such line. */
export interface ServerSentBlock {
  readonly id: string | null
  readonly data: string | null
  /** Pause before the reader connects again. */
  readonly retryMs: number | null
}

/** Also yields blocks without data, such as comments. Omits a block that the end of the stream cuts off. */
export async function* blocksOf(
  chunks: AsyncIterable<Uint8Array>,
): AsyncGenerator<ServerSentBlock, undefined, undefined> {
  const decoder = new TextDecoder()
  let text = ''
  for await (const chunk of chunks) {
    const blocks = (text + decoder.decode(chunk, { stream: true })).split('\n\n')
    text = blocks.pop() ?? ''
    for (const block of blocks) yield blockOf(block)
  }
}

function blockOf(text: string): ServerSentBlock {
  const values = new Map<string, string>()
  for (const line of text.split('\n')) {
    const [, name = '', value = ''] = /^([^:]*)(?:: ?(.*))?$/.exec(line) ?? []
    const earlier = name === 'data' ? values.get(name) : undefined
    values.set(name, earlier === undefined ? value : `${earlier}\n${value}`)
  }
  const retry = values.get('retry') ?? ''
  return {
    id: values.get('id') ?? null,
    data: values.get('data') ?? null,
    retryMs: /^[0-9]{1,9}$/.test(retry) ? Number(retry) : null,
  }
}
