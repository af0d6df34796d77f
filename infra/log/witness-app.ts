/** The requests that a witness answers. https://c2sp.org/tlog-witness */
import { createHash } from 'node:crypto'
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import type { NoteKey } from '../../api/client/log/signed-note.ts'
import type { Log } from '../../runtime/ports/log.ts'
import type { Witness, WitnessAnswer, WitnessStore } from './witness.ts'
import { parseWitnessRequest, SIZE_TYPE } from './witness-request.ts'

export interface WitnessAppOptions {
  readonly witness: Witness
  readonly logs: readonly NoteKey[]
  readonly store: WitnessStore
  readonly log: Log
}

const TEXT = 'text/plain; charset=utf-8'
const MAX_REQUEST_BYTES = 65_536
const STATUS = { malformed: 400, unsigned: 403, unknown_log: 404, inconsistent: 422 } as const
const HEAD = /^\/([0-9a-f]{64})\/checkpoint$/

interface Reply {
  readonly status: number
  readonly type: string
  readonly body: string
}

export function createWitnessApp(options: WitnessAppOptions): RequestListener {
  return (request, response) => {
    void answer(request, options)
      .catch((error: unknown): Reply => {
        options.log.error('witness_failed', { reason: error instanceof Error ? error.message : 'unknown' })
        return text(500, 'The witness cannot store what it signs.')
      })
      .then((reply) => send(response, reply))
  }
}

async function answer(request: IncomingMessage, options: WitnessAppOptions): Promise<Reply> {
  const [path = ''] = (request.url ?? '').split('?')
  if (path === '/add-checkpoint') {
    return request.method === 'POST' ? add(request, options) : text(405, 'This resource takes POST.')
  }
  const [, origin] = HEAD.exec(path) ?? []
  if (origin === undefined) return text(404, 'There is no such resource.')
  return request.method === 'GET' ? showHead(origin, options) : text(405, 'This resource takes GET.')
}

async function add(request: IncomingMessage, { witness, log }: WitnessAppOptions): Promise<Reply> {
  const body = await read(request)
  if (body === undefined) return text(413, 'The request is too long.')
  const parsed = parseWitnessRequest(body)
  if (parsed === undefined) return text(400, 'The request is malformed.')
  const judged = await witness.add(parsed)
  // Possibly proof of a log with two histories.
  if (judged.kind === 'inconsistent') {
    log.error('log_inconsistent', { reason: judged.problem, request: Buffer.from(body).toString('base64') })
  }
  return replyOf(judged)
}

function replyOf(answered: WitnessAnswer): Reply {
  if (answered.kind === 'signed') return { status: 200, type: TEXT, body: answered.line }
  if (answered.kind === 'conflict') return { status: 409, type: SIZE_TYPE, body: `${answered.size}\n` }
  return text(STATUS[answered.kind], answered.problem)
}

async function showHead(hash: string, { logs, store }: WitnessAppOptions): Promise<Reply> {
  const origin = logs.map(({ name }) => name).find((name) => createHash('sha256').update(name).digest('hex') === hash)
  const head = origin === undefined ? undefined : await store.head(origin)
  return head === undefined
    ? text(404, 'The witness has signed no head of this log.')
    : { status: 200, type: TEXT, body: head.note }
}

/** Undefined if it is too long. */
async function read(request: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > MAX_REQUEST_BYTES) return undefined
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

function text(status: number, sentence: string): Reply {
  return { status, type: TEXT, body: `${sentence}\n` }
}

function send(response: ServerResponse, { status, type, body }: Reply): void {
  response.writeHead(status, { 'content-type': type, 'cache-control': 'no-cache' }).end(body)
}
