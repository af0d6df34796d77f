/**
 * Replies with problem details to requests that the HTTP parser rejects, and closes their connection, because the start of
 * the next request is unknown.
 */
import { randomBytes } from 'node:crypto'
import { type Server, type ServerResponse, STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'
import { type Problem, problem, renderProblem } from '../../api/http/problem.ts'

const REQUEST_ID_BYTES = 16

/** By the code of Node's error. Any other error means that the request is not HTTP. */
const DETAILS: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: 'The headers of the request are too large.',
  ERR_HTTP_REQUEST_TIMEOUT: 'The request did not arrive in time.',
}
const NOT_HTTP = 'The request is not well-formed HTTP.'

export function answerUnreadableRequests(server: Server, errorBase: string): void {
  const responses = new WeakMap<Duplex, ServerResponse>()
  server.on('request', (request, response) => void responses.set(request.socket, response))
  server.on('clientError', (error: Error & { readonly code?: string }, socket) => {
    const response = responses.get(socket)
    const halfSent = response !== undefined && response.headersSent && !response.writableFinished
    if (error.code === 'ECONNRESET' || !socket.writable || halfSent) {
      socket.destroy()
      return
    }
    socket.write(replyTo(error.code, errorBase), () => socket.destroy())
  })
}

/** A problem of the whole request, without a field. */
export function unreadable(detail: string): Problem {
  return problem('invalid-request', 'ERR_INVALID_FIELD', detail, [{ field: 'request', message: detail }])
}

export function newRequestId(): string {
  return randomBytes(REQUEST_ID_BYTES).toString('hex')
}

export function problemReply(refused: Problem, context: Parameters<typeof renderProblem>[1]) {
  const { status, contentType, body, headers } = renderProblem(refused, context)
  return {
    status,
    body,
    headers: {
      'content-type': contentType,
      'content-length': String(Buffer.byteLength(body)),
      'x-request-id': context.requestId,
      'x-content-type-options': 'nosniff',
      'cache-control': 'no-store',
      ...headers,
    },
  }
}

function replyTo(code: string | undefined, errorBase: string): string {
  const refused = unreadable(DETAILS[code ?? ''] ?? NOT_HTTP)
  const { status, body, headers } = problemReply(refused, { errorBase, instance: '/', requestId: newRequestId() })
  const lines = Object.entries({ ...headers, connection: 'close' }).map(([name, value]) => `${name}: ${value}`)
  return [`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`, ...lines, '', body].join('\r\n')
}
