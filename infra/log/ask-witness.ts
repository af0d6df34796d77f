/** Requests to witnesses over HTTP. A reply is bounded, a redirect is none, and no proxy is used. */
import { request } from 'undici'
import type { AskWitness } from './log-publisher.ts'

const TIMEOUT_MS = 5_000
const MAX_REPLY_BYTES = 16_384

class ReplyTooLong extends Error {
  override readonly name = 'ReplyTooLong'
}

export const askWitness: AskWitness = async (url, body, stopped) => {
  const reply = await request(url, {
    method: 'POST',
    body,
    headers: { 'content-type': 'text/plain; charset=utf-8', 'user-agent': 'ledger-log' },
    signal: AbortSignal.any([stopped, AbortSignal.timeout(TIMEOUT_MS)]),
  })
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of reply.body as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > MAX_REPLY_BYTES) throw new ReplyTooLong(`the reply has more than ${MAX_REPLY_BYTES} bytes`)
    chunks.push(chunk)
  }
  return { status: reply.statusCode, body: Buffer.concat(chunks).toString('utf8') }
}
