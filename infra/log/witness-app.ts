/** The requests that a witness answers. https://c2sp.org/tlog-witness */
import { createHash } from 'node:crypto'
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import type { NoteKey } from '../../api/client/log/signed-note.ts'
import type { Log } from '../../runtime/ports/log.ts'
import type { LogForkStore, Witness, WitnessAnswer, WitnessStore } from './witness.ts'
import { parseWitnessRequest, SIZE_TYPE, type WitnessRequest } from './witness-request.ts'

export interface WitnessAppOptions {
  readonly witness: Witness
  readonly logs: readonly NoteKey[]
  readonly store: Pick<WitnessStore, 'head'> & LogForkStore
  readonly log: Log
  /** Milliseconds since 1970. */
  readonly nowMs: () => number
}

const TEXT = 'text/plain; charset=utf-8'
const MAX_REQUEST_BYTES = 65_536
const STATUS = { malformed: 400, unsigned: 403, unknown_log: 404, inconsistent: 422, forked: 422 } as const
const QUIET_MS = 60_000
const HEAD = /^\/([0-9a-f]{64})\/checkpoint$/

class RequestIncomplete extends Error {
  override readonly name = 'RequestIncomplete'
}

interface Reply {
  readonly status: number
  readonly type: string
  readonly body: string
  /** The connection has unread bytes of a request, and ends with this reply. */
  readonly isLast?: true
}

export function createWitnessApp(app: WitnessAppOptions): RequestListener {
  const options = { ...app, log: quietly(app), alarm: app.log.error }
  return (request, response) => {
    void answer(request, options)
      .catch((error: unknown): Reply => {
        if (error instanceof RequestIncomplete) return text(400, 'The request is incomplete.')
        options.log.error('witness_failed', { reason: error instanceof Error ? error.message : 'unknown' })
        return text(500, 'The witness cannot store what it signs.')
      })
      .then((reply) => send(response, reply))
  }
}

/** One line of each kind in a minute: a log tries again every second, and strangers may ask as they like. */
function quietly({ log, nowMs }: WitnessAppOptions): Log {
  const writtenMs = new Map<string, number>()
  const rarely =
    (write: Log['info']): Log['info'] =>
    (event, fields) => {
      const last = writtenMs.get(event)
      if (last !== undefined && Math.abs(nowMs() - last) < QUIET_MS) return
      writtenMs.set(event, nowMs())
      write(event, fields)
    }
  return { info: rarely(log.info), warn: rarely(log.warn), error: rarely(log.error) }
}

/** `alarm`: for forks. It is not limited, because only the log can cause one. */
type Options = WitnessAppOptions & { readonly alarm: Log['error'] }

async function answer(request: IncomingMessage, options: Options): Promise<Reply> {
  const [path = ''] = (request.url ?? '').split('?')
  if (path === '/add-checkpoint') {
    return request.method === 'POST' ? add(request, options) : text(405, 'This resource takes POST.')
  }
  const [, origin] = HEAD.exec(path) ?? []
  if (origin === undefined) return text(404, 'There is no such resource.')
  return request.method === 'GET' ? showHead(origin, options) : text(405, 'This resource takes GET.')
}

async function add(request: IncomingMessage, { witness, store, log, alarm }: Options): Promise<Reply> {
  const body = await read(request)
  if (body === undefined) return { ...text(413, 'The request is too long.'), isLast: true }
  const parsed = parseWitnessRequest(body)
  if (parsed === undefined) return text(400, 'The request is malformed.')
  const judged = await witness.add(parsed)
  if ('fork' in judged && judged.fork !== undefined) {
    if (await store.saveFork(judged.fork)) alarm('log_forked', { head: headText(parsed) })
  } else if (judged.kind === 'signed') log.info('head_signed', { head: headText(parsed) })
  else if (judged.kind === 'inconsistent') log.warn('proof_refused', { head: headText(parsed), reason: judged.problem })
  else if ('problem' in judged) log.warn('head_refused', { reason: judged.problem })
  return replyOf(judged)
}

/** Name, size and root. */
function headText({ checkpoint }: WitnessRequest): string {
  return checkpoint.text.split('\n', 3).join(' ')
}

/** The reply to a head that was judged. */
export function replyOf(answered: WitnessAnswer): Reply {
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

/** Undefined if it is too long: then the rest is not read. Rejects if the connection ends before the request. */
function read(request: IncomingMessage): Promise<string | undefined> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let size = 0
    request.on('data', (chunk: Buffer) => {
      size += chunk.length
      if (size <= MAX_REQUEST_BYTES) return void chunks.push(chunk)
      request.pause()
      resolve(undefined)
    })
    request.once('end', () => resolve(Buffer.concat(chunks).toString('utf8')))
    const end = (): void => reject(new RequestIncomplete('the connection ended before the request'))
    request.once('error', end)
    request.once('close', end)
  })
}

function text(status: number, sentence: string): Reply {
  return { status, type: TEXT, body: `${sentence}\n` }
}

function send(response: ServerResponse, { status, type, body, isLast }: Reply): void {
  const ending = isLast === true ? { connection: 'close' } : {}
  response.writeHead(status, { 'content-type': type, 'cache-control': 'no-cache', ...ending }).end(body)
}
