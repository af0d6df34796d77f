/**
 * The HTTP server of the edge.
 *   H1. A slow or silent client holds a connection for a bounded time.
 *   H2. Stopping refuses new connections and lets requests in progress end. Their responses announce that the connection
 *       closes, so that a busy client reconnects elsewhere. Remaining connections are closed after a timeout.
 */
import { createServer, type IncomingMessage, type Server, ServerResponse } from 'node:http'
import { listenOn } from '../system/listen-on.ts'
import type { EdgeApp } from './edge-app.ts'
import { createRequestListener } from './request-listener.ts'
import { answerUnreadableRequests } from './unreadable-requests.ts'

export interface HttpServer {
  readonly stop: () => Promise<void>
}

const HEADERS_TIMEOUT_MS = 10_000
/** Headers and body together. */
const REQUEST_TIMEOUT_MS = 30_000
/** Longer than the idle timeout of common load balancers, 60 s, so that they close a connection first. */
const KEEP_ALIVE_TIMEOUT_MS = 65_000
const CHECK_EVERY_MS = 5_000
/**
 * Closes a connection without traffic, such as one whose client does not read. Longer than any response takes: a proof of
 * liabilities may wait for two runs of three minutes.
 */
const STALL_TIMEOUT_MS = 600_000
const MAX_HEADER_BYTES = 16_384
const MAX_CONNECTIONS = 10_000
const STOP_TIMEOUT_MS = 10_000
const CLOSE_IDLE_EVERY_MS = 50

/** Rejects if the port is taken or not permitted. */
export async function listen(
  app: EdgeApp,
  host: string,
  port: number,
  errorBase: string,
  stallTimeoutMs = STALL_TIMEOUT_MS,
): Promise<HttpServer> {
  const stopping = new GracefulStop()
  const settings = {
    headersTimeout: HEADERS_TIMEOUT_MS,
    requestTimeout: REQUEST_TIMEOUT_MS,
    keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
    connectionsCheckingInterval: CHECK_EVERY_MS,
    maxHeaderSize: MAX_HEADER_BYTES,
    noDelay: true,
    // The listener refuses such a request with problem details.
    requireHostHeader: false,
    ServerResponse: stopping.responses(),
  }
  const server = createServer(settings, createRequestListener(app, host, errorBase))
  server.on('checkContinue', (request, response) => {
    continueWhenRead(request, response)
    server.emit('request', request, response)
  })
  // Any other expectation may be ignored (RFC 9110, 10.1.1).
  server.on('checkExpectation', (request, response) => server.emit('request', request, response))
  server.maxConnections = MAX_CONNECTIONS
  server.timeout = stallTimeoutMs
  answerUnreadableRequests(server, errorBase)
  await listenOn(server, host, port, 'LEDGER_PORT')
  return { stop: () => stopping.stop(server) }
}

/** Sends 100 (Continue) when the body is first read, and not if the headers decide. */
function continueWhenRead(request: IncomingMessage, response: ServerResponse): void {
  const read = request._read.bind(request)
  let continued = false
  request._read = (size) => {
    if (!continued && !response.headersSent) response.writeContinue()
    continued = true
    read(size)
  }
}

/** H2. */
class GracefulStop {
  private begun = false

  /** A response that begins after the stop announces that its connection closes. */
  responses(): typeof ServerResponse {
    const begun = (): boolean => this.begun
    return class<Request extends IncomingMessage> extends ServerResponse<Request> {
      override writeHead(...head: [statusCode: number, ...rest: unknown[]]): this {
        if (begun()) this.shouldKeepAlive = false
        // The overloads of writeHead take these arguments, but TypeScript picks only one.
        return super.writeHead(...(head as [number]))
      }
    }
  }

  stop(server: Server): Promise<void> {
    this.begun = true
    const late = setTimeout(() => server.closeAllConnections(), STOP_TIMEOUT_MS)
    // An earlier response did not announce it: its connection is closed as soon as it is idle.
    const sweep = setInterval(() => server.closeIdleConnections(), CLOSE_IDLE_EVERY_MS)
    return new Promise((resolve) => {
      server.close(() => {
        clearTimeout(late)
        clearInterval(sweep)
        resolve()
      })
      server.closeIdleConnections()
    })
  }
}
