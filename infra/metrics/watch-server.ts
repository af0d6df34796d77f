/**
 * The listener for operators: /metrics, /healthz and /readyz, on their own port, so that clients of the ledger cannot read
 * them.
 *   W1. Input is bounded: GET and HEAD only, unread bodies, small headers, few connections, short timeouts.
 *   W2. A failure is a 500 without details.
 */
import { createServer, type ServerResponse } from 'node:http'
import { listenOn } from '../system/listen-on.ts'

export interface WatchReply {
  readonly status: number
  readonly contentType: string
  readonly body: string
}

export type WatchPages = ReadonlyMap<string, () => WatchReply | Promise<WatchReply>>

export interface WatchServer {
  readonly port: number
  readonly stop: () => Promise<void>
}

const MAX_CONNECTIONS = 64
const MAX_HEADER_BYTES = 8_192
const HEADERS_TIMEOUT_MS = 5_000
const REQUEST_TIMEOUT_MS = 10_000
const CHECK_EVERY_MS = 2_000
const KEEP_ALIVE_TIMEOUT_MS = 5_000
/** Closes a connection without traffic, such as one whose client does not read. */
const IDLE_TIMEOUT_MS = 10_000
/** Bounds the memory of pipelined requests. */
const MAX_REQUESTS_PER_CONNECTION = 16

/** `port`: 0 for any free port. The error of a port that cannot be used names LEDGER_METRICS_PORT. */
export async function startWatchServer(host: string, port: number, pages: WatchPages): Promise<WatchServer> {
  const server = createServer(
    {
      maxHeaderSize: MAX_HEADER_BYTES,
      headersTimeout: HEADERS_TIMEOUT_MS,
      requestTimeout: REQUEST_TIMEOUT_MS,
      connectionsCheckingInterval: CHECK_EVERY_MS,
      keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
    },
    (request, response) => void answer(pages, request.method ?? '', request.url ?? '', response),
  )
  server.maxConnections = MAX_CONNECTIONS
  server.maxRequestsPerSocket = MAX_REQUESTS_PER_CONNECTION
  server.setTimeout(IDLE_TIMEOUT_MS)
  await listenOn(server, host, port, 'LEDGER_METRICS_PORT')
  const address = server.address()
  return {
    port: address !== null && typeof address === 'object' ? address.port : port,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

async function answer(pages: WatchPages, method: string, url: string, response: ServerResponse): Promise<void> {
  const page = pages.get(url.split('?', 1)[0] ?? '')
  if (page === undefined) {
    send(response, method, plain(404, 'not found'))
  } else if (method !== 'GET' && method !== 'HEAD') {
    response.setHeader('allow', 'GET, HEAD')
    send(response, method, plain(405, 'method not allowed'))
  } else {
    let reply: WatchReply
    try {
      reply = await page()
    } catch {
      reply = plain(500, 'failed')
    }
    send(response, method, reply)
  }
}

function plain(status: number, text: string): WatchReply {
  return { status, contentType: 'text/plain; charset=utf-8', body: `${text}\n` }
}

function send(response: ServerResponse, method: string, { status, contentType, body }: WatchReply): void {
  response.writeHead(status, {
    'content-type': contentType,
    'content-length': Buffer.byteLength(body),
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
  })
  response.end(method === 'HEAD' ? undefined : body)
}
