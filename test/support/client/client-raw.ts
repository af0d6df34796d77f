/** Bytes to the ledger that no HTTP client would send. */
import { connect } from 'node:net'
import type { HttpReply } from './client.ts'

const TIMEOUT_MS = 20_000

/** Sends the bytes and reads until the ledger closes. The bytes must make it close: by `Connection: close`, or by being wrong. */
export function sendRaw(origin: string, bytes: Buffer | string): Promise<HttpReply> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(origin)
    const chunks: Buffer[] = []
    const socket = connect({ host: hostname, port: Number(port) })
    const late = setTimeout(() => socket.destroy(new Error(`no end of the reply in ${TIMEOUT_MS} ms`)), TIMEOUT_MS)
    socket.once('connect', () => socket.write(bytes))
    socket.on('data', (chunk: Buffer) => chunks.push(chunk))
    // The ledger may close while the rest of what it refused is still being written.
    socket.on('error', (error) => {
      if (chunks.length === 0) reject(error)
    })
    socket.once('close', () => {
      clearTimeout(late)
      resolve(parse(Buffer.concat(chunks).toString('utf8')))
    })
  })
}

/** The parts of a body, each as a chunk (RFC 9112, 7.1). */
export function chunked(...parts: readonly Buffer[]): Buffer {
  const framed = parts.flatMap((part) => [Buffer.from(`${part.length.toString(16)}\r\n`), part, Buffer.from('\r\n')])
  return Buffer.concat([...framed, Buffer.from('0\r\n\r\n')])
}

function parse(text: string): HttpReply {
  const headEnd = text.indexOf('\r\n\r\n')
  const [statusLine = '', ...lines] = text.slice(0, headEnd).split('\r\n')
  const headers = Object.fromEntries(
    lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 1).trim()]),
  )
  return { status: Number(statusLine.split(' ')[1] ?? 0), headers, body: text.slice(headEnd + 4) }
}
