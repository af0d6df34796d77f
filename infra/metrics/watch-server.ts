/**
 * The listener for operators: /metrics, /healthz and /readyz, on a port of its own, for what must not be shown to whoever
 * may use the ledger.
 *   W1. It takes nothing in: GET and HEAD, bodies unread, small headers, few connections, all of it in a bounded time.
 *   W2. What fails is a 500 without a word of why.
 */
import { createServer, type Server, type ServerResponse } from 'node:http'

export interface WatchAnswer {
  readonly status: number
  readonly contentType: string
  readonly body: string
}

export type WatchPages = ReadonlyMap<string, () => WatchAnswer | Promise<WatchAnswer>>

export interface WatchServer {
  /** As it listens. */
  readonly port: number
  readonly stop: () => Promise<void>
}

const MAX_CONNECTIONS = 64
const MAX_HEADER_BYTES = 8_192
const HEADERS_TIMEOUT_MS = 5_000
const REQUEST_TIMEOUT_MS = 10_000
const CHECK_EVERY_MS = 2_000
const KEEP_ALIVE_TIMEOUT_MS = 5_000
/** Of a connection on which nothing moves either way: who does not read what he asked for is cut off. */
const IDLE_TIMEOUT_MS = 10_000
/** What is asked ahead and not read stays in memory. */
const MAX_REQUESTS_PER_CONNECTION = 16

/** `port`: 0 for any free one. Rejects when it cannot listen there, naming the variable that says where. */
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
  await listening(server, host, port)
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
    let made: WatchAnswer
    try {
      made = await page()
    } catch {
      made = plain(500, 'failed')
    }
    send(response, method, made)
  }
}

function plain(status: number, text: string): WatchAnswer {
  return { status, contentType: 'text/plain; charset=utf-8', body: `${text}\n` }
}

function send(response: ServerResponse, method: string, { status, contentType, body }: WatchAnswer): void {
  response.writeHead(status, {
    'content-type': contentType,
    'content-length': Buffer.byteLength(body),
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
  })
  response.end(method === 'HEAD' ? undefined : body)
}

function listening(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: Error & { code?: string }) => {
      const taken = error.code === 'EADDRINUSE' ? 'is taken' : `cannot be used: ${error.message}`
      reject(new Error(`port ${port} on ${host} ${taken}: set LEDGER_METRICS_PORT to another`, { cause: error }))
    })
    server.listen(port, host, resolve)
  })
}
