/**
 * Passes requests from the HTTP server to the app, and replies to those without a valid URL.
 *   L1. An invalid target or host is a 400 with problem details, before the token is checked.
 *   L2. If the app fails, the client gets a 503 without details of the failure.
 */
import type { IncomingMessage, RequestListener } from 'node:http'
import { getRequestListener, RequestError } from '@hono/node-server'
import { ownRequestId } from '../../api/frame.ts'
import { downstreamFailure, type Problem } from '../../api/http/problem.ts'
import { pathOfTarget } from '../../api/http/request-path.ts'
import type { EdgeApp } from './edge-app.ts'
import { newRequestId, problemReply, unreadable } from './unreadable-requests.ts'

const NO_ADDRESS = 'The target or the host of the request is not valid.'
const NO_HOST = 'The request has no Host header.'

/** `host`: the host of requests without a Host header, which HTTP/1.0 allows. */
export function createRequestListener(app: EdgeApp, host: string, errorBase: string): RequestListener {
  /** The request being passed on. The listener reports an invalid URL synchronously. */
  let reading: IncomingMessage | undefined
  const listener = getRequestListener(app.fetch, {
    hostname: host,
    errorHandler: (error) =>
      error instanceof RequestError
        ? responseOf(unreadable(NO_ADDRESS), errorBase, reading)
        : responseOf({ ...downstreamFailure(), outcome: 'unknown' }, errorBase),
  })
  return (incoming, outgoing) => {
    if (incoming.headers.host === undefined && incoming.httpVersion === '1.1') {
      const { status, body, headers } = partsOf(unreadable(NO_HOST), errorBase, incoming)
      outgoing.writeHead(status, headers).end(body)
      return
    }
    if (incoming.method === 'OPTIONS' && incoming.url === '*') {
      outgoing.writeHead(204, { allow: 'GET, HEAD, POST, PUT, OPTIONS', 'x-request-id': newRequestId() }).end()
      return
    }
    reading = incoming
    void listener(incoming, outgoing)
    reading = undefined
  }
}

function responseOf(refused: Problem, errorBase: string, incoming?: IncomingMessage): Response {
  const { status, body, headers } = partsOf(refused, errorBase, incoming)
  return new Response(body, { status, headers })
}

function partsOf(refused: Problem, errorBase: string, incoming?: IncomingMessage) {
  const claimed = incoming?.headers['x-request-id']
  const requestId = (typeof claimed === 'string' ? ownRequestId(claimed) : undefined) ?? newRequestId()
  return problemReply(refused, { errorBase, instance: pathOfTarget(incoming?.url ?? '/'), requestId })
}
