/**
 * The HTTP server under the edge.
 *   H1. A client that is slow, silent or greedy holds a connection for a bounded time.
 *   H2. Stopping takes no new connections and lets requests under way end. Their answers say that the connection closes with
 *       them, so that a client that never rests goes elsewhere; then what is left is closed.
 */
import { createServer, type IncomingMessage, type Server, ServerResponse } from 'node:http'
import type { EdgeApp } from './edge-app.ts'
import { createRequestListener } from './request-listener.ts'
import { answerUnreadableRequests } from './unreadable-requests.ts'

export interface HttpServer {
  readonly stop: () => Promise<void>
}

const HEADERS_TIMEOUT_MS = 10_000
/** For headers and body together. */
const REQUEST_TIMEOUT_MS = 30_000
/** Longer than the 60 s after which common load balancers give up an idle connection: they must be first. */
const KEEP_ALIVE_TIMEOUT_MS = 65_000
const CHECK_EVERY_MS = 5_000
/**
 * Without a byte in either direction: a client that does not read its answer. Longer than any answer is waited for: a proof
 * of liabilities may wait for the run before its own, of three minutes each.
 */
const STALL_TIMEOUT_MS = 600_000
const MAX_HEADER_BYTES = 16_384
const MAX_CONNECTIONS = 10_000
const STOP_TIMEOUT_MS = 10_000
const CLOSE_IDLE_EVERY_MS = 50

/** Resolves when it listens. Rejects when the port is taken or not permitted. `errorBase`: as the edge has it. */
export async function listen(
  app: EdgeApp,
  host: string,
  port: number,
  errorBase: string,
  stallTimeoutMs = STALL_TIMEOUT_MS,
): Promise<HttpServer> {
  const stopping = new Stopping()
  const settings = {
    headersTimeout: HEADERS_TIMEOUT_MS,
    requestTimeout: REQUEST_TIMEOUT_MS,
    keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
    connectionsCheckingInterval: CHECK_EVERY_MS,
    maxHeaderSize: MAX_HEADER_BYTES,
    noDelay: true,
    // What the server would refuse by itself, it would refuse without a word.
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
  await listening(server, host, port)
  return { stop: () => stopping.stop(server) }
}

/** Sends 100 (Continue) when the body is first read: not if the headers alone decide. */
function continueWhenRead(request: IncomingMessage, response: ServerResponse): void {
  const read = request._read.bind(request)
  let continued = false
  request._read = (size) => {
    if (!continued && !response.headersSent) response.writeContinue()
    continued = true
    read(size)
  }
}

function listening(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: Error & { code?: string }) => {
      const taken = error.code === 'EADDRINUSE' ? 'is taken' : `cannot be used: ${error.message}`
      reject(new Error(`port ${port} on ${host} ${taken}: set LEDGER_PORT to another`, { cause: error }))
    })
    server.listen(port, host, resolve)
  })
}

/** H2. */
class Stopping {
  private begun = false

  /** A response that begins while the server stops says that its connection closes. */
  responses(): typeof ServerResponse {
    const begun = (): boolean => this.begun
    return class<Request extends IncomingMessage> extends ServerResponse<Request> {
      override writeHead(...head: [statusCode: number, ...rest: unknown[]]): this {
        if (begun()) this.shouldKeepAlive = false
        // One of two overloads, which take the same arguments here.
        return super.writeHead(...(head as [number]))
      }
    }
  }

  stop(server: Server): Promise<void> {
    this.begun = true
    const late = setTimeout(() => server.closeAllConnections(), STOP_TIMEOUT_MS)
    // A response that had begun before does not say so: its connection stays open until the next look.
    const looks = setInterval(() => server.closeIdleConnections(), CLOSE_IDLE_EVERY_MS)
    return new Promise((resolve) => {
      server.close(() => {
        clearTimeout(late)
        clearInterval(looks)
        resolve()
      })
      server.closeIdleConnections()
    })
  }
}
