/** An endpoint's reply as data: the frame adds the headers that every response carries. */
export interface Reply {
  readonly kind: 'reply'
  readonly status: number
  readonly contentType: string
  readonly body: string
  readonly headers: Readonly<Record<string, string>>
}

/** One that is sent as it is made. */
export interface StreamReply extends Omit<Reply, 'kind' | 'body'> {
  readonly kind: 'stream'
  /** Breaks off with an error when it cannot be made to its end. */
  readonly body: ReadableStream<Uint8Array>
}

/** Bytes that exist before the request. */
export interface StaticReply extends Omit<Reply, 'kind' | 'body'> {
  readonly kind: 'static'
  readonly body: Uint8Array
}

const NO_HEADERS: Readonly<Record<string, string>> = {}

/** `members` in the order in which they are to be read. */
export function jsonReply(
  status: number,
  members: object,
  headers: Readonly<Record<string, string>> = NO_HEADERS,
): Reply {
  return textReply(status, 'application/json', JSON.stringify(members), headers)
}

export function textReply(
  status: number,
  contentType: string,
  body: string,
  headers: Readonly<Record<string, string>> = NO_HEADERS,
): Reply {
  return { kind: 'reply', status, contentType, body, headers }
}

export function streamReply(
  status: number,
  contentType: string,
  body: ReadableStream<Uint8Array>,
  headers: Readonly<Record<string, string>> = NO_HEADERS,
): StreamReply {
  return { kind: 'stream', status, contentType, body, headers }
}
